import type { Metadata } from "next";
import { redirect } from "next/navigation";
import { StepwellMark } from "@/app/_ui/icons";
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
    <main className="flex min-h-dvh flex-col px-6 pt-[18vh] sm:items-center">
      <div className="w-full max-w-[22rem]">
        <div className="mb-8 flex items-center gap-2.5">
          <StepwellMark className="text-accent" />
          <span className="font-semibold text-base">Stepwell</span>
        </div>
        <h1 className="mb-5 font-semibold text-title">Sign in</h1>
        <SignInForm problem={sentenceOf([problem].flat()[0])} target={target} />
        <p className="mt-6 text-muted text-xs leading-5">
          New here? An administrator of your organization invites you from its Members page.
        </p>
      </div>
    </main>
  );
}
