import { redirect } from "next/navigation";
import { PlainPage } from "@/app/_ui/page/plain-page";
import { SignOutButton } from "@/app/_ui/sign-out";
import { readSession } from "@/app/request";

export default async function NoOrganizationPage() {
  const session = await readSession();
  if (!session) redirect("/sign-in");
  if (session.member) redirect("/");
  return (
    <PlainPage title="You belong to no organization">
      <p className="mb-4 text-muted">
        {session.user.email} is signed in, but is a member of no organization. Ask an admin or owner to invite
        you.
      </p>
      <SignOutButton />
    </PlainPage>
  );
}
