import dynamic from "next/dynamic";
import { useRef, useState } from "react";
import { Button } from "@/app/_ui/button";
import { ColumnsIcon } from "@/app/_ui/icons";
import type { ColumnName } from "./column-choice";

const load = () => import("./column-picker");
const ColumnPicker = dynamic(() => load().then((module) => module.ColumnPicker), { ssr: false });

type Props = { columns: readonly ColumnName[]; onChange: (columns: readonly ColumnName[]) => void };

/** Opens the choice of columns. On phones, rows always show the same. */
export function ColumnsButton({ columns, onChange }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const pressedWhileOpen = useRef(false);
  return (
    <>
      <Button
        aria-expanded={isOpen}
        aria-haspopup="dialog"
        className="-mr-3 max-md:hidden"
        look="quiet"
        onClick={() => {
          // Pointer-down outside closes the picker before the click arrives, and the click must not open it again.
          setOpen(!pressedWhileOpen.current);
          pressedWhileOpen.current = false;
        }}
        onFocus={() => void load()}
        onPointerDown={() => {
          pressedWhileOpen.current = isOpen;
        }}
        onPointerEnter={() => void load()}
        ref={button}
        title="Columns"
      >
        <ColumnsIcon />
        <span className="max-xl:sr-only">Columns</span>
      </Button>
      {isOpen ? (
        <ColumnPicker anchor={button} columns={columns} onChange={onChange} onClose={() => setOpen(false)} />
      ) : null}
    </>
  );
}
