import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { readSession } from "@/app/request";
import { sentenceOf } from "./problem";
import { SignInForm } from "./sign-in-form";
import { targetAfterSignIn } from "./target";

export const metadata: Metadata = { title: "Sign in" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function SignInPage({ searchParams }: Props) {
  const { to, problem } = await searchParams;
  const target = targetAfterSignIn([to].flat()[0]);
  if (await readSession()) redirect(target);
  return (
    <PlainPage title="Sign in">
      <SignInForm problem={sentenceOf([problem].flat()[0])} target={target} />
      <p className="mt-6 text-muted text-xs leading-5">
        New here? An administrator of your organization invites you from its Members page.
      </p>
    </PlainPage>
  );
}
