import { z } from "zod";
import { MIB } from "@/server/contract/sizes";

// The texts that are read at a time, but at least those of one row.
const PIECE_BYTES = MIB;

/** The id of a row and the bytes of its texts. */
export const rowSize = z.object({ id: z.string(), bytes: z.number() });

type Piece = { ids: string[]; bytes: number };

/** Groups rows, in their order, whose texts are read together. */
export function cutRows(sizes: z.infer<typeof rowSize>[]): Piece[] {
  const pieces: Piece[] = [];
  for (const { id, bytes } of sizes) {
    const last = pieces.at(-1);
    if (last === undefined || last.bytes + bytes > PIECE_BYTES) pieces.push({ ids: [id], bytes });
    else {
      last.ids.push(id);
      last.bytes += bytes;
    }
  }
  return pieces;
}
