import { DownloadIcon } from "@/app/_ui/icons";

export function DownloadLink({ address, label }: { address: string; label: string }) {
  return (
    <a
      aria-label={label}
      className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
      href={`${address}&download=1`}
      title={label}
    >
      <DownloadIcon />
    </a>
  );
}
