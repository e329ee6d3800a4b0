import { Box, Text } from 'ink';

/**
 * The places of lines of a frame, one below the other; the surface puts the lines there.
 * @param turn another one for each frame: React does nothing for places that it has shown already
 */
export function Screen({ places, turn }: { readonly places: readonly number[]; readonly turn: number }) {
  return (
    <Box key={turn} flexDirection="column">
      {places.map((place) => (
        <Text key={place}>{String(place)}</Text>
      ))}
    </Box>
  );
}
