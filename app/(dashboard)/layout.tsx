import { cookies, headers } from "next/headers";
import type { ReactNode } from "react";
import { OrganizationProvider } from "@/app/_ui/data/providers";
import { readIsOperator, requirePageMember, serverApi } from "@/app/request";
import { Frame } from "./frame";
import { ThemeProvider } from "./theme";

export default async function DashboardLayout({ children }: { children: ReactNode }) {
  const { session, actor } = await requirePageMember();
  const { suspended, ...organization } = session.organization;
  const api = await serverApi();
  const theme = (await cookies()).get("theme")?.value;
  const agent = (await headers()).get("user-agent") ?? "";
  return (
    <ThemeProvider initial={theme === "dark" || theme === "light" ? theme : "system"}>
      <OrganizationProvider organization={{ ...organization, userId: actor.userId }}>
        <Frame
          isOperator={await readIsOperator()}
          mac={/Mac|iPhone|iPad/.test(agent)}
          organizations={await api.account.organizations()}
          role={actor.role}
          suspended={suspended}
          user={{ name: session.user.name, email: session.user.email }}
        >
          {children}
        </Frame>
      </OrganizationProvider>
    </ThemeProvider>
  );
}
