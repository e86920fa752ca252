"use client";

import { Menu as Base } from "@base-ui/react/menu";
import { type FocusEvent as FocusOf, type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { CheckIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

const POPUP_CLASS =
  "max-h-(--available-height) min-w-44 max-w-80 overflow-y-auto rounded-lg border border-line-strong bg-raised p-1 text-ink shadow-raised outline-none";

type MenuPopupProps = {
  button: HTMLElement;
  open: boolean;
  onClose: () => void;
  align: "start" | "end";
  startsAtFirst: boolean;
  finalFocus: true | (() => HTMLElement | true);
  children: ReactNode;
};

export function MenuPopup({
  button,
  open,
  onClose,
  align,
  startsAtFirst,
  finalFocus,
  children,
}: MenuPopupProps) {
  const untouched = useRef(true);
  useEffect(() => {
    if (!open) untouched.current = true;
  }, [open]);
  function onFocus({ target, currentTarget }: FocusOf<HTMLElement>) {
    if (startsAtFirst && untouched.current && target === currentTarget) {
      currentTarget.querySelector<HTMLElement>('[role^="menuitem"]:not([data-disabled])')?.focus();
    }
    untouched.current = false;
  }
  const leaving = useRef(false);
  function onKeyDown(event: KeyboardEvent) {
    if (event.key !== "Tab") return;
    event.stopPropagation();
    leaving.current = true;
    button.focus();
    onClose();
  }
  function focusAfter() {
    if (leaving.current) {
      leaving.current = false;
      return false;
    }
    const target = finalFocus === true ? true : finalFocus();
    return target === true ? button : target;
  }
  return (
    <Base.Root
      modal={false}
      onOpenChange={(_open, { event }) => {
        // The button closes the menu itself; closed twice, it would open again.
        if (!isWithin(button, event.target) && !isWithin(button, relatedTargetOf(event))) onClose();
      }}
      open={open}
    >
      <Base.Portal>
        <Base.Positioner align={align} anchor={button} className="z-50 outline-none" sideOffset={4}>
          <Base.Popup
            aria-label={button.getAttribute("aria-label") ?? button.textContent ?? ""}
            className={POPUP_CLASS}
            finalFocus={focusAfter}
            onFocus={onFocus}
            onKeyDown={onKeyDown}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function isWithin(element: HTMLElement, target: EventTarget | null): boolean {
  return target instanceof Node && element.contains(target);
}

function relatedTargetOf(event: Event): EventTarget | null {
  return event instanceof FocusEvent ? event.relatedTarget : null;
}

const ITEM_CLASS =
  "flex min-h-8 w-full cursor-pointer select-none items-center gap-2 rounded-md px-2 py-1 text-left outline-none data-[highlighted]:bg-hover data-[disabled]:opacity-55";

type ItemProps = { onClick: () => void; disabled?: boolean; danger?: boolean; children: ReactNode };

export function Item({ onClick, disabled = false, danger = false, children }: ItemProps) {
  return (
    <Base.Item
      className={danger ? `${ITEM_CLASS} text-failed` : ITEM_CLASS}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </Base.Item>
  );
}

type LinkItemProps = { href: string; download?: boolean; onClick?: () => void; children: ReactNode };

export function LinkItem({ href, download = false, onClick, children }: LinkItemProps) {
  return (
    <Base.LinkItem
      className={ITEM_CLASS}
      closeOnClick
      {...(onClick ? { onClick } : {})}
      {...(download ? { href, download: true } : { render: <Link href={href} /> })}
    >
      {children}
    </Base.LinkItem>
  );
}

type ChoiceProps<Value extends string> = {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode; icon?: ReactNode }[];
};

export function Choice<Value extends string>({ value, onChange, options }: ChoiceProps<Value>) {
  return (
    <Base.RadioGroup onValueChange={onChange} value={value}>
      {options.map((option) => (
        <Base.RadioItem className={ITEM_CLASS} closeOnClick key={option.value} value={option.value}>
          {option.icon}
          <span className="min-w-0 flex-1 truncate">{option.label}</span>
          <Base.RadioItemIndicator>
            <CheckIcon className="text-accent" />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}
