"use client";

import { Button } from "@/app/_ui/button";
import { Fact, Facts } from "@/app/_ui/figures/facts";
import { lazy } from "@/app/_ui/lazy";
import { PageHead } from "@/app/_ui/page/page";
import { usePageActions } from "@/app/_ui/page/page-actions";
import { Segments } from "@/app/_ui/segments";
import { useDialog } from "@/app/_ui/use-dialog";
import { THEMES, useTheme } from "../theme";
import { OrganizationList } from "./organization-list";
import { SessionList } from "./session-list";
import { SingleKeysField } from "./single-keys-field";
import { TimeZoneField } from "./time-zone-field";

const ChangePassword = lazy(() => import("./change-password"), "ChangePassword");

export function AccountView({ user }: { user: { name: string; email: string } }) {
  const { theme, onTheme } = useTheme();
  const { dialog, open } = useDialog();
  const changePassword = () => open(<ChangePassword />);
  usePageActions([{ label: "Change the password", run: changePassword }]);
  return (
    <>
      <PageHead title="Account">
        <Button look="primary" onClick={changePassword}>
          Change password
        </Button>
      </PageHead>
      <div className="grid border-line border-t xl:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="-mt-px min-w-0 xl:border-line xl:border-r">
          <Facts label="You">
            <Fact name="Name">{user.name}</Fact>
            <Fact name="Email">{user.email}</Fact>
            <Fact name="Theme">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
                <Segments label="Theme" onChange={onTheme} options={THEMES} value={theme} />
                <span className="text-muted text-xs">Applies to this browser.</span>
              </div>
            </Fact>
            <Fact name="Time zone">
              <TimeZoneField />
            </Fact>
            <Fact name="Single keys">
              <SingleKeysField />
            </Fact>
          </Facts>
          <SessionList />
        </div>
        <OrganizationList />
      </div>
      {dialog}
    </>
  );
}
