import { Box, Text } from 'ink';
import { memo } from 'react';

const Row = memo(function Row({ text }: { readonly text: string }) {
  // An empty text has no height.
  return <Text wrap="truncate-end">{text === '' ? ' ' : text}</Text>;
});

/** The lines of a frame, painted. */
export function Screen({ lines }: { readonly lines: readonly string[] }) {
  return (
    <Box flexDirection="column">
      {lines.map((text, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is what its place is
        <Row key={i} text={text} />
      ))}
    </Box>
  );
}
