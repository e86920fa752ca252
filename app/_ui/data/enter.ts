import { postJson } from "./query-client";

/**
 * Signs in with a password that was just set, and opens the dashboard. If that fails, the person signs in with the new
 * password.
 */
export async function enter({ email, password }: { email: string; password: string }): Promise<void> {
  const isSignedIn = await postJson("/api/auth/sign-in/email", { email, password, rememberMe: true }).then(
    () => true,
    () => false,
  );
  // A full load: nothing cached for another user survives.
  window.location.assign(isSignedIn ? "/" : "/sign-in");
}
