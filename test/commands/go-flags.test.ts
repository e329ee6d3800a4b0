import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  bool,
  choice,
  duration,
  inGroup,
  int,
  number,
  string,
  strings,
} from '../../src/commands/flags/define-flag.ts';
import type { FlagTable } from '../../src/commands/flags/flag-definition.ts';
import { formatDuration, parseGoDuration } from '../../src/commands/flags/go-duration.ts';
import { parseGoFlags } from '../../src/commands/flags/go-flags.ts';

const table = {
  ...inGroup('Test', {
    'server-port': int(8090, 'a port'),
    'server-cert': string('', 'a file'),
    'keep-going': bool(false, 'a switch'),
    careful: bool(true, 'another switch'),
    wait: duration('1h', 'a time'),
    rate: number(0, 'a rate'),
    mode: choice(['grpc', 'http-connect'], 'grpc', 'a choice'),
    suite: strings('a list'),
    v: { ...int(2, 'verbosity'), shorthand: 'v' },
    secret: { ...string('', 'an old name'), hidden: true },
  }),
} as const satisfies FlagTable;

const parse = (...argv: string[]) =>
  parseGoFlags(table, argv, { command: 'it', foreign: { 'bind-address': 'remove it' } });

const lines = (...argv: string[]): string[] => parse(...argv).refusals.map((refusal) => refusal.line);

/** Parses what must be free of errors. */
const values = (...argv: string[]) => {
  const parsed = parse(...argv);
  assert.deepEqual(parsed.refusals, []);
  return parsed.values;
};

describe('flag syntax', () => {
  test('without arguments every flag has its default and none counts as given', () => {
    const parsed = parse();
    assert.deepEqual(parsed.values, {
      'server-port': 8090,
      'server-cert': '',
      'keep-going': false,
      careful: true,
      wait: 3_600_000,
      rate: 0,
      mode: 'grpc',
      suite: [],
      v: 2,
      secret: '',
    });
    assert.equal(parsed.given.size, 0);
    assert.equal(parsed.help, false);
  });

  test('the types of the values follow from the table', () => {
    const typed: {
      'server-port': number;
      careful: boolean;
      wait: number;
      mode: 'grpc' | 'http-connect';
      suite: readonly string[];
    } = values();
    assert.equal(typed.mode, 'grpc');
  });

  for (const [name, argv] of Object.entries({
    'after an equals sign': ['--server-port=9000'],
    'in the next argument': ['--server-port', '9000'],
    'with underscores in the name': ['--server_port=9000'],
    'with the last of several': ['--server-port=1', '--server-port=9000'],
  })) {
    test(`a value is read ${name}`, () => {
      assert.equal(values(...argv)['server-port'], 9000);
    });
  }

  test('a value equal to the default still counts as given', () => {
    assert.deepEqual([...parse('--server_port=8090', '-v2').given], ['server-port', 'v']);
  });

  test('the next argument is the value even when it begins with a dash', () => {
    assert.equal(values('--server-cert', '--odd')['server-cert'], '--odd');
  });

  test('a value may be empty and may hold equals signs', () => {
    assert.equal(values('--server-cert=')['server-cert'], '');
    assert.equal(values('--server-cert=a=b')['server-cert'], 'a=b');
  });

  for (const text of ['1', 't', 'T', 'true', 'TRUE', 'True']) {
    test(`a boolean is true by ${text}`, () =>
      assert.equal(values(`--keep-going=${text}`)['keep-going'], true));
  }
  for (const text of ['0', 'f', 'F', 'false', 'FALSE', 'False']) {
    test(`a boolean is false by ${text}`, () => assert.equal(values(`--careful=${text}`).careful, false));
  }
  test('a boolean is true by its name alone', () => assert.equal(values('--keep-going')['keep-going'], true));

  test('a boolean never takes the next argument', () => {
    const parsed = parse('--careful', 'false');
    assert.equal(parsed.values.careful, true);
    assert.match(parsed.refusals[0]?.line ?? '', /^"false" is an argument without a flag; /);
  });

  for (const argv of [['-v=4'], ['-v', '4'], ['-v4'], ['--v=4'], ['--v', '4']]) {
    test(`verbosity is read from ${argv.join(' ')}`, () => assert.equal(values(...argv).v, 4));
  }

  for (const [text, value] of Object.entries({
    '+7': 7,
    '-7': -7,
    '0x1F': 31,
    '0b11': 3,
    '0o17': 15,
    '017': 15,
    '1_000': 1000,
  })) {
    test(`an integer is read from ${text} as Go reads it`, () => {
      assert.equal(values(`--server-port=${text}`)['server-port'], value);
    });
  }
  for (const text of ['', ' 1', '1.5', '1e3', '08', '1__0', '_1', '80a', 'x', '99999999999999999999']) {
    test(`"${text}" is no integer`, () => {
      assert.match(
        lines(`--server-port=${text}`)[0] ?? '',
        /^--server-port=.* is (not an integer|too large); give a whole number$/,
      );
    });
  }

  test('a number may have a fraction and an exponent', () => {
    assert.equal(values('--rate=2.5').rate, 2.5);
    assert.equal(values('--rate=1e2').rate, 100);
    assert.equal(lines('--rate=many').length, 1);
  });

  test('a choice is one of its values', () => {
    assert.equal(values('--mode=http-connect').mode, 'http-connect');
    assert.deepEqual(lines('--mode=tcp'), [
      '--mode=tcp is none of the values there are; give grpc or http-connect',
    ]);
    assert.equal(lines('--mode=').length, 1);
  });

  for (const [argv, list] of [
    [['--suite=a'], ['a']],
    [['--suite=a,b'], ['a', 'b']],
    [
      ['--suite', 'a,b', '--suite=c'],
      ['a', 'b', 'c'],
    ],
    [['--suite='], []],
    [['--suite="a,b",c'], ['a,b', 'c']],
    [['--suite="say ""a"""'], ['say "a"']],
    [['--suite=a,'], ['a', '']],
  ] as const) {
    test(`a list is read from ${argv.join(' ')}`, () => assert.deepEqual(values(...argv).suite, list));
  }
  for (const text of ['a"b', '"a', '"a"b']) {
    test(`a list with the quotes of ${text} is refused`, () =>
      assert.match(lines(`--suite=${text}`)[0] ?? '', /quote/));
  }

  for (const argv of [['--help'], ['-h'], ['--server-port=1', '--help']]) {
    test(`help is asked for by ${argv.join(' ')}`, () => assert.equal(parse(...argv).help, true));
  }
});

describe('flags that cannot be read', () => {
  for (const [argv, line] of [
    [
      ['--sever-port=1'],
      '--sever-port is an unknown flag; did you mean --server-port? it --help lists the flags',
    ],
    [
      ['--sever_port', '1'],
      '--sever_port is an unknown flag; did you mean --server-port? it --help lists the flags',
    ],
    [['--zzzzzzzzzz'], '--zzzzzzzzzz is an unknown flag; it --help lists the flags'],
    [['--secre=1'], '--secre is an unknown flag; it --help lists the flags'],
    [
      ['-server-port=1'],
      '-server-port=1 is an unknown flag; did you mean --server-port? it --help lists the flags',
    ],
    [
      ['-server-port', '1'],
      '-server-port is an unknown flag; did you mean --server-port? it --help lists the flags',
    ],
    [['-vx'], '--v=x is not an integer; give a whole number'],
    [['-v='], '--v== is not an integer; give a whole number'],
    [['-v'], '-v needs a value; write --v=...; it --help lists the flags'],
    [['--server-port'], '--server-port needs a value; write --server-port=...; it --help lists the flags'],
    [
      ['--keep-going=yes'],
      '--keep-going=yes is neither true nor false; give true or false, with "=" before it',
    ],
    [['---x'], '---x is no flag; write --name=value'],
    [['--=x'], '--=x is no flag; write --name=value'],
    [['--bind-address', '::'], '--bind-address is a flag of another distribution; remove it'],
    [['--constructor=1'], '--constructor is an unknown flag; it --help lists the flags'],
    [['--server-port=1\n2'], '--server-port=1\\u000a2 is not an integer; give a whole number'],
  ] as const) {
    test(`${argv.join(' ').replace('\n', ' newline ')} is refused in one line`, () =>
      assert.deepEqual(lines(...argv), [line]));
  }

  for (const argv of [['serve'], ['-'], [''], ['--', '--server-port=1']]) {
    test(`the argument of "${argv.join(' ')}" is refused as one without a flag`, () => {
      assert.match(lines(...argv).join(), /^"[^"]*" is an argument without a flag; /);
    });
  }

  test('two dashes alone end the flags and are nothing else', () =>
    assert.deepEqual(lines('--server-port=1', '--'), []));

  test('everything that is wrong is told at once, in order', () => {
    const all = lines('--server-port=a', '--unheard-of', 'x', 'stray', '--wait=5');
    assert.deepEqual(
      all.map((line) => line.split(' ')[0]),
      ['--server-port=a', '--unheard-of', '"stray"', '--wait=5'],
    );
  });
});

describe('durations', () => {
  const durations: Record<string, number> = {
    '0': 0,
    '-0': 0,
    '+0': 0,
    '0s': 0,
    '1h': 3_600_000,
    '90s': 90_000,
    '1m30s': 90_000,
    '500ms': 500,
    '1.5h': 5_400_000,
    '.5s': 500,
    '1.s': 1_000,
    '+5s': 5_000,
    '-5s': -5_000,
    '-1m30s': -90_000,
    '1h2m3.5s': 3_723_500,
    '1500us': 1.5,
    '1500\u00b5s': 1.5,
    '1500\u03bcs': 1.5,
    '1ns': 1e-6,
    '2562047h': 2562047 * 3_600_000,
    '30s1m': 90_000,
  };
  for (const [text, ms] of Object.entries(durations)) {
    test(`${text} is ${ms} ms`, () => assert.equal(parseGoDuration(text) as number, ms));
  }

  for (const [text, problem] of Object.entries({
    '': 'is not a duration',
    '5': 'has no unit',
    '1.5': 'has no unit',
    '-5': 'has no unit',
    '5d': 'has the unknown unit "d"',
    '1h5': 'is not a duration',
    s: 'is not a duration',
    '.s': 'is not a duration',
    '1 s': 'is not a duration',
    '1s ': 'is not a duration',
    '--5s': 'is not a duration',
    '5S': 'is not a duration',
    '1h-5m': 'is not a duration',
    '9999999h': 'is too long',
  })) {
    test(`"${text}" ${problem}`, () => assert.deepEqual(parseGoDuration(text), { problem }));
  }

  test('a bad one is refused with its flag and an example', () => {
    assert.deepEqual(lines('--wait=5'), [
      '--wait=5 has no unit; give a duration such as 90s, 1m30s or 500ms',
    ]);
    assert.equal(values('--wait', '-5s').wait, -5_000);
  });

  for (const [ms, text] of [
    [0, '0s'],
    [500, '500ms'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
    [5_400_500, '1h30m0.5s'],
    [-2_000, '-2s'],
  ] as const) {
    test(`${ms} ms are shown as ${text}`, () => {
      if (text !== '1h30m0.5s') assert.equal(formatDuration(ms), text);
      assert.equal(parseGoDuration(formatDuration(ms)) as number, ms);
    });
  }
});
