import type { Metadata } from "next";
import { Link } from "@/app/_ui/link";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { getServices } from "@/process-services";
import { AskAdmin } from "./ask-admin";
import { RequestForm } from "./request-form";

export const metadata: Metadata = { title: "Forgot password" };

/** Sends a link for a new password by email, or says who can make one. */
export default function ForgotPasswordPage() {
  return (
    <PlainPage title="Forgot your password?">
      {getServices().sendMail === null ? <AskAdmin /> : <RequestForm />}
      <p className="mt-6">
        <Link className="text-accent underline" href="/sign-in">
          Back to sign-in
        </Link>
      </p>
    </PlainPage>
  );
}
