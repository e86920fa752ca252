import { redirect } from "next/navigation";
import { SignOutButton } from "@/app/_ui/sign-out";
import { readSession } from "@/app/request";

export default async function NoOrganizationPage() {
  const session = await readSession();
  if (!session) redirect("/sign-in");
  if (session.member) redirect("/runs");
  return (
    <main className="flex max-w-xl flex-col items-start gap-3 px-6 py-16">
      <h1 className="font-semibold text-title">You belong to no organization</h1>
      <p className="text-muted">
        {session.user.email} is signed in, but is a member of no organization. Ask an owner or administrator
        to invite you.
      </p>
      <SignOutButton />
    </main>
  );
}
