/** Names the people who make a link for a new password where no email is sent. */
export function AskAdmin() {
  return (
    <p className="text-muted">
      Ask an admin or owner of your organization: they can create a link for a new password on the page
      Members. If you belong to several organizations, ask the operator of this installation.
    </p>
  );
}
