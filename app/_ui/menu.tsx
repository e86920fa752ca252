"use client";

import { Menu as Base } from "@base-ui/react/menu";
import clsx from "clsx";
import type { ReactNode } from "react";
import { CheckIcon } from "@/app/_ui/icons";
import { Link } from "@/app/_ui/link";

export const POPUP_CLASS =
  "min-w-44 max-w-80 rounded-lg border border-line-strong bg-raised p-1 text-ink shadow-raised outline-none";
const ITEM_CLASS =
  "flex min-h-8 w-full cursor-pointer select-none items-center gap-2 rounded-md px-2 py-1 text-left outline-none data-[highlighted]:bg-hover data-[disabled]:opacity-55";

/** A menu below its trigger. `trigger` is the content of the button, `label` its accessible name. */
export function Menu({
  trigger,
  triggerClass,
  label,
  align = "end",
  finalFocus = true,
  children,
}: {
  trigger: ReactNode;
  triggerClass: string;
  label?: string;
  align?: "start" | "end";
  /** What gets the focus when the menu closes; by default its button. */
  finalFocus?: true | (() => HTMLElement | true);
  children: ReactNode;
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger aria-label={label} className={triggerClass} title={label}>
        {trigger}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align={align} className="z-40 outline-none" sideOffset={4}>
          <Base.Popup
            className={`${POPUP_CLASS} max-h-(--available-height) overflow-y-auto`}
            finalFocus={finalFocus}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({
  onClick,
  disabled,
  danger = false,
  children,
}: {
  onClick: () => void;
  disabled?: boolean;
  danger?: boolean;
  children: ReactNode;
}) {
  return (
    <Base.Item
      className={clsx(ITEM_CLASS, danger && "text-failed")}
      onClick={onClick}
      {...(disabled ? { disabled } : {})}
    >
      {children}
    </Base.Item>
  );
}

/** An entry that links to an address or a download. */
export function MenuLink({
  href,
  download = false,
  onClick,
  children,
}: {
  href: string;
  download?: boolean;
  onClick?: () => void;
  children: ReactNode;
}) {
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

export function MenuChoice<Value extends string>({
  value,
  onChange,
  options,
}: {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode; icon?: ReactNode }[];
}) {
  return (
    <Base.RadioGroup onValueChange={(next: Value) => onChange(next)} value={value}>
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

export function MenuSeparator() {
  return <Base.Separator className="-mx-1 my-1 h-px bg-line" />;
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return <div className="px-2 pt-1.5 pb-1 text-muted text-xs">{children}</div>;
}
