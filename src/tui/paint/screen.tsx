import { Box, Text } from 'ink';
import { memo } from 'react';

/** @param turn 0 or 1, the other one each time the line at that place changes */
const Row = memo(function Row({ place, turn }: { readonly place: number; readonly turn: number }) {
  return <Text>{`${place}${turn === 0 ? '' : '+'}`}</Text>;
});

/**
 * The places of a frame's lines, one below the other; the surface puts the lines there.
 * @param turns of each line; React touches only rows of which it is another one
 */
export function Screen({ turns }: { readonly turns: readonly number[] }) {
  return (
    <Box flexDirection="column">
      {turns.map((turn, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the screen is what its place is
        <Row key={place} place={place} turn={turn} />
      ))}
    </Box>
  );
}
