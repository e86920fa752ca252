"use client";

import { type ComponentProps, type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { buttonClass } from "@/app/_ui/button";
import { checkConnection } from "@/app/_ui/data/connection";
import { MoreIcon } from "@/app/_ui/icons";

type PopupModule = typeof import("./popup");

/** A fifth of a page's script, so it loads when the pointer or focus reaches a menu's button. */
let popup: PopupModule | undefined;
async function loadPopup(): Promise<PopupModule> {
  popup ??= await import("./popup");
  return popup;
}
const preloadPopup = () => void loadPopup().catch(() => {});

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
  finalFocus?: true | (() => HTMLElement | true);
  children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const [state, setState] = useState({ open: false, byKeyboard: false });
  const [loaded, setLoaded] = useState<PopupModule | null>(null);
  const close = () => setState((before) => ({ ...before, open: false }));
  function show(byKeyboard: boolean) {
    setState({ open: true, byKeyboard });
    if (loaded !== null) return;
    if (popup) return setLoaded(popup);
    void loadPopup().then(setLoaded, () => {
      close();
      void checkConnection();
    });
  }
  function onKeyDown(event: KeyboardEvent) {
    if (state.open || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    show(true);
  }
  return (
    <>
      <button
        aria-expanded={state.open}
        aria-haspopup="menu"
        aria-label={label}
        className={triggerClass}
        // A click without a pointer comes from the keyboard or from assistive technology.
        onClick={({ detail }) => (state.open ? close() : show(detail === 0))}
        onFocus={preloadPopup}
        onKeyDown={onKeyDown}
        onPointerEnter={preloadPopup}
        ref={button}
        title={label}
        type="button"
      >
        {trigger}
      </button>
      {loaded && button.current ? (
        <loaded.MenuPopup
          align={align}
          button={button.current}
          finalFocus={finalFocus}
          onClose={close}
          open={state.open}
          startsAtFirst={state.byKeyboard}
        >
          {children}
        </loaded.MenuPopup>
      ) : null}
    </>
  );
}

type MoreMenuProps = { label: string; quiet?: boolean; children: ReactNode };

/** A menu of further actions. `quiet`: in a row of a list, without a frame. */
export function MoreMenu({ label, quiet = false, children }: MoreMenuProps) {
  const look = buttonClass(quiet ? "quiet" : "plain", "w-8 px-0!");
  return (
    <Menu label={label} trigger={<MoreIcon />} triggerClass={look}>
      {children}
    </Menu>
  );
}

/** Only an open popup renders entries, so its code is loaded. */
function loadedPopup(): PopupModule {
  if (popup === undefined) throw new Error("A menu's entries must be inside a Menu.");
  return popup;
}

export function MenuItem(props: ComponentProps<PopupModule["Item"]>) {
  const { Item } = loadedPopup();
  return <Item {...props} />;
}

/** An entry that links to an address or a download. */
export function MenuLink(props: ComponentProps<PopupModule["LinkItem"]>) {
  const { LinkItem } = loadedPopup();
  return <LinkItem {...props} />;
}

export function MenuChoice<Value extends string>(
  props: ComponentProps<typeof import("./popup").Choice<Value>>,
) {
  const { Choice } = loadedPopup();
  return <Choice {...props} />;
}

export function MenuSeparator() {
  return <hr className="-mx-1 my-1 h-px border-0 bg-line" />;
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return <div className="px-2 pt-1.5 pb-1 text-muted text-xs">{children}</div>;
}
