import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { adminDefinitions } from '../../scripts/admin-proto.ts';
import { decodeMessage } from '../../src/proxy/admin/messages/decode-message.ts';
import { Encoded, encodeMessage } from '../../src/proxy/admin/messages/encode-message.ts';
import { MalformedMessageError } from '../../src/proxy/admin/messages/message-reader.ts';
import { type Field, messageTable } from '../../src/proxy/admin/messages/table.ts';

const FILE = 'src/proxy/admin/messages/definitions.json';
const root = protobuf.loadSync('proto/admin.proto');
const names = Object.keys(adminDefinitions().messages);

it('the bundled definitions are those of proto/admin.proto (node --import tsx scripts/admin-definitions.ts)', () => {
  assert.deepEqual(JSON.parse(readFileSync(FILE, 'utf8')), adminDefinitions());
});

describe('a message of the admin API', () => {
  for (const name of names) {
    it(`${name} is read by protobufjs as it was written`, () => {
      const type = root.lookupType(`konnectivity.admin.v1.${name}`);
      fc.assert(
        fc.property(message(name), (value) => {
          const bytes = encodeMessage(messageTable(name), value);
          const seen = type.toObject(type.decode(bytes), {
            longs: String,
            arrays: true,
            objects: true,
            defaults: true,
          });
          const written = type.toObject(type.fromObject(plain(name, value)), {
            longs: String,
            arrays: true,
            objects: true,
            defaults: true,
          });
          assert.deepEqual(seen, written);
        }),
        { numRuns: 30 },
      );
    });

    it(`${name} comes back as it was written`, () => {
      fc.assert(
        fc.property(message(name), (value) => {
          const table = messageTable(name);
          assert.deepEqual(decodeMessage(table, encodeMessage(table, value)), value);
        }),
        { numRuns: 30 },
      );
    });
  }

  it('leaves out what is optional and was not written', () => {
    const decoded = decodeMessage(messageTable('Agent'), Buffer.alloc(0));
    assert.deepEqual(
      ['source', 'order', 'instance', 'lastSeen', 'rates', 'roundTripSeconds'].filter(
        (name) => name in decoded,
      ),
      [],
    );
    assert.equal(decoded.id, '');
    assert.deepEqual(decoded.lastFor, []);
  });

  it('keeps a dial ID that no number can hold', () => {
    const table = messageTable('Tunnel');
    for (const dialId of ['9223372036854775807', '-9223372036854775808', '-1']) {
      assert.equal(decodeMessage(table, encodeMessage(table, { dialId })).dialId, dialId);
    }
  });

  it('takes a message that is encoded already', () => {
    const bytes = encodeMessage(messageTable('Agent'), { id: 'node-a', state: 'ready' });
    const table = messageTable('AgentsChange');
    const decoded = decodeMessage(
      table,
      encodeMessage(table, { changed: [new Encoded(bytes)], revision: 7 }),
    );
    assert.deepEqual(
      (decoded.changed as { id: string }[]).map(({ id }) => id),
      ['node-a'],
    );
    assert.equal(decoded.revision, 7);
  });

  it('passes over fields that it does not know', () => {
    const type = protobuf
      .parse(
        'syntax = "proto3"; message M { string id = 1; string a = 900; double b = 901; fixed32 c = 902; int64 d = 903; }',
      )
      .root.lookupType('M');
    const bytes = Buffer.from(
      type.encode(type.fromObject({ id: 'x', a: 'new', b: 1.5, c: 7, d: -1 })).finish(),
    );
    assert.deepEqual(decodeMessage(messageTable('GetAgentRequest'), bytes), { id: 'x' });
  });

  it('that is garbage is refused, and never hangs or reads beyond its end', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodeMessage(messageTable('AgentDetails'), Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof MalformedMessageError, String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** A value of a message as decodeMessage makes it. */
function message(name: string, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  const required: string[] = [];
  for (const field of messageTable(name).fields) {
    if (field.kind === 'map') {
      fields[field.name] = fc
        .dictionary(
          fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
          fc.string(),
        )
        .map((entries) => Object.assign(Object.create(null), entries));
    } else if (field.kind === 'repeated')
      fields[field.name] = fc.array(scalar(field, depth), { maxLength: 3 });
    else fields[field.name] = scalar(field, depth);
    const absent = field.kind === 'optional' || field.type === 'time' || field.type === 'message';
    if (field.kind === 'map' || field.kind === 'repeated' || !absent) required.push(field.name);
  }
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true });
}

function scalar(field: Field, depth: number): fc.Arbitrary<unknown> {
  switch (field.type) {
    case 'string':
      return fc.string({ unit: 'grapheme', maxLength: 200 });
    case 'bool':
      return fc.boolean();
    case 'double':
      return fc.double({ noNaN: true }).map((value) => value + 0 || 0);
    case 'int32':
      return fc.integer();
    case 'int64':
      return fc.maxSafeInteger();
    case 'int64-text':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
    case 'time':
      return fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
    case 'message':
      return message(field.message?.name ?? '', depth + 1);
    default:
      return field.type satisfies never;
  }
}

/** The same for protobufjs: times as messages. */
function plain(name: string, value: Record<string, unknown>): Record<string, unknown> {
  const converted: Record<string, unknown> = {};
  for (const field of messageTable(name).fields) {
    const one = value[field.name];
    if (one === undefined) continue;
    const convert = (item: unknown): unknown => {
      if (field.type === 'message') return plain(field.message?.name ?? '', item as Record<string, unknown>);
      if (field.type === 'time') return timestamp(item as Date);
      // protobufjs takes a number beyond 2^32 inexactly unless it is text.
      return field.type === 'int64' ? String(item) : item;
    };
    converted[field.name] =
      field.kind === 'repeated'
        ? (one as unknown[]).map(convert)
        : field.kind === 'map'
          ? { ...(one as object) }
          : convert(one);
  }
  return converted;
}

function timestamp(date: Date): object {
  const seconds = Math.floor(date.getTime() / 1000);
  return { seconds: String(seconds), nanos: (date.getTime() - seconds * 1000) * 1e6 };
}
