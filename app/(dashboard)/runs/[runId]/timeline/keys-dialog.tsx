import { Dialog } from "@/app/_ui/dialog";
import { Link } from "@/app/_ui/link";

const KEYS: readonly [keys: string, does: string][] = [
  ["j  ↓", "next line"],
  ["k  ↑", "previous line"],
  ["Home  End", "first, last line"],
  ["→  ←", "unfold, fold a line: items, steps, attempts, child run"],
  ["o", "fold or unfold everything"],
  ["/", "search all inputs and outputs"],
  ["f", "failures only"],
  ["t  c", "scale bars by time, by credits"],
  ["z", "zoom to the selected line"],
  ["Z  Esc", "show the whole time"],
  ["n  p", "next (older), previous run of the list"],
  ["?", "these keys"],
];

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keys on this page">
      <dl className="grid grid-cols-[7rem_1fr] gap-y-2">
        {KEYS.map(([key, what]) => (
          <div className="contents" key={key}>
            <dt className="mono">{key}</dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
      <p className="text-muted">
        Keys of one character can be switched off in your{" "}
        <Link className="text-accent underline" href="/account">
          account
        </Link>
        .
      </p>
    </Dialog>
  );
}
