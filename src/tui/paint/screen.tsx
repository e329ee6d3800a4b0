import { Box, Text } from 'ink';

function Row({ text }: { readonly text: string }) {
  // An empty text has no height.
  return <Text wrap="truncate-end">{text === '' ? ' ' : text}</Text>;
}

/**
 * Lines of a frame, painted.
 * @param turn another one for each frame: React does nothing for lines that it has shown already, at other places
 */
export function Screen({ lines, turn }: { readonly lines: readonly string[]; readonly turn: number }) {
  return (
    <Box key={turn} flexDirection="column">
      {lines.map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is what its place is
        <Row key={i} text={text} />
      ))}
    </Box>
  );
}
