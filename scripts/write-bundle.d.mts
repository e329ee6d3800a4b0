interface OutputFile {
  readonly path: string;
  readonly contents: Uint8Array;
}

export function replaceFile(path: string, contents: string | Uint8Array): boolean;
export function writeOutputs(outputs: readonly OutputFile[]): string[];
export function removeOthers(dist: string, kept: Iterable<string>): void;
