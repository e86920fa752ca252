/** Names the people who make a link for a new password where no e-mail is sent. */
export function AskAdministrator() {
  return (
    <p className="text-muted">
      Ask an administrator of your organization: they can make a link for a new password on the page Members.
      If you belong to several organizations, ask the operator of this installation.
    </p>
  );
}
