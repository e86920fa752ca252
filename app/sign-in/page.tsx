import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { Link } from "@/app/_ui/link";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { readSession } from "@/app/request";
import { getServices } from "@/process-services";
import { isSetUp } from "@/server/catalog/organization/set-up";
import { targetAfterSignIn } from "../sign-in-target";
import { sentenceOf } from "./problem";
import { SignInForm } from "./sign-in-form";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function SignInPage({ searchParams }: Props) {
  const { to, problem } = await searchParams;
  const target = targetAfterSignIn([to].flat()[0]);
  if (await readSession()) redirect(target);
  // Without the database, the form shows the error.
  const hasOrganization = await isSetUp(getServices()).catch(() => true);
  return (
    <PlainPage title="Sign in">
      <SignInForm problem={sentenceOf([problem].flat()[0])} target={target} />
      {hasOrganization ? (
        <p className="mt-4">
          <Link className="py-1 text-accent underline" href="/forgot-password">
            Forgot your password?
          </Link>
        </p>
      ) : null}
      <p className="mt-6 text-muted text-xs leading-5">
        {hasOrganization
          ? "New here? An admin or owner of your organization invites you from its Members page."
          : "There is no organization yet. The service prints a set-up link when it starts. The command doctor prints one, too."}
      </p>
    </PlainPage>
  );
}
