import { useEffect, useRef, useState } from "react";

/**
 * The text of a field that reports it, such as to the page's address, and that follows `text`. A reported text
 * comes back late, when more may have been typed. Any other text replaces what was typed.
 */
export function useReportedText(text: string, onReport: (text: string) => void) {
  const [typed, setTyped] = useState(text);
  /** Reported texts that have not come back yet, oldest first. */
  const reported = useRef<string[]>([]);
  /** The first effect may run after the first key and must not replace what was typed. */
  const arrived = useRef(text);
  useEffect(() => {
    if (arrived.current === text) return;
    arrived.current = text;
    const at = reported.current.lastIndexOf(text);
    reported.current = reported.current.slice(at + 1);
    if (at < 0) setTyped(text);
  }, [text]);
  function report(wanted: string) {
    if (wanted === (reported.current.at(-1) ?? text)) return;
    reported.current.push(wanted);
    onReport(wanted);
  }
  return { typed, setTyped, report };
}
