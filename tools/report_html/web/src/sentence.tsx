import * as format from "./format";

const LONGEST_WORD = 44;

// A sentence in which the name of a kernel that is too long for a line is cut in its middle; the
// whole name is its title.
export function Sentence({ text }: { text: string | undefined }) {
  const parts = format.unbroken(text).split(/( )/);
  return <>{parts.map((word) => (word.length <= LONGEST_WORD ? word
    : <span title={word}>{format.cutMiddle(word, LONGEST_WORD)}</span>))}</>;
}
