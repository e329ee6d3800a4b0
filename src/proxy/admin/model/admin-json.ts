/** Fields that are int64 in proto/admin.proto: JSON numbers do not hold them, so they are written as text. */
const INT64: ReadonlySet<string> = new Set([
  'bufferedBytes',
  'bytesFromNode',
  'bytesToNode',
  'connectId',
  'dialId',
  'dialsTotal',
  'failedDialsTotal',
  'missed',
  'number',
  'revision',
]);

/**
 * A message of the admin API as JSON for scripts: the names of the proto file in lowerCamelCase, int64 as text, times
 * as RFC 3339, what is absent left out. What a terminal could take for a command is escaped.
 * @param indent blanks for each level; 0 for one line
 */
export function adminJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(
    value,
    (key, field: unknown) => {
      if (typeof field === 'number' && INT64.has(key)) return String(field);
      // An order is stored unless it says otherwise, and nothing missed is the rule.
      return (key === 'relayed' && field === false) || (key === 'missed' && field === 0) ? undefined : field;
    },
    indent,
  );
  return text.replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
