import type { Metadata, Viewport } from "next";
import { cookies, headers } from "next/headers";
import type { ReactNode } from "react";
import { Providers } from "@/app/_ui/data/providers";
import { fonts } from "./fonts";
import "./globals.css";

export const metadata: Metadata = {
  title: { default: "Stepwell", template: "%s · Stepwell" },
  robots: { index: false, follow: false },
};

export const viewport: Viewport = { width: "device-width", initialScale: 1 };

export default async function RootLayout({ children }: { children: ReactNode }) {
  const [jar, incoming] = await Promise.all([cookies(), headers()]);
  const theme = jar.get("theme")?.value;
  const chosenZone = readTimeZone(jar.get("zone")?.value);
  const nonce = /'nonce-([^']+)'/.exec(incoming.get("content-security-policy") ?? "")?.[1];
  return (
    <html className={fonts} data-theme={theme === "dark" || theme === "light" ? theme : undefined} lang="en">
      <body>
        <Providers
          nonce={nonce}
          now={Date.now()}
          timeZone={chosenZone ?? readTimeZone(jar.get("tz")?.value) ?? "UTC"}
          timeZoneChosen={chosenZone !== null}
        >
          {children}
        </Providers>
      </body>
    </html>
  );
}

function readTimeZone(name: string | undefined): string | null {
  if (!name) return null;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}
