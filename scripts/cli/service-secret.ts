import { findUnreadable } from "@/server/operate/find-unreadable";
import { adoptSecret, rotateSecret } from "@/server/operate/rotate-secret";
import { declareCommand } from "./command";

export const serviceSecretCommands = [
  declareCommand({
    name: "service-secret rotate",
    summary: "Encrypt everything with a new STEPWELL_SECRET",
    options: {},
    async run({ services }) {
      if (services.encryption.previousFingerprint === null) {
        throw new Error(
          "Set STEPWELL_SECRET to the new secret and STEPWELL_SECRET_PREVIOUS to the current one, here and for every " +
            "process of the service. Then run this again.",
        );
      }
      const { resealed, unreadable } = await rotateSecret(services);
      return [
        `${resealed} stored secrets are now encrypted with STEPWELL_SECRET.`,
        ...(unreadable > 0 ? [`${unreadable} could be read with neither secret; see \`doctor\`.`] : []),
        "Remove STEPWELL_SECRET_PREVIOUS and restart every process of the service.",
      ].join("\n");
    },
  }),
  declareCommand({
    name: "service-secret adopt",
    summary: "Accept a new STEPWELL_SECRET when the earlier one is lost",
    options: {},
    needs: "database",
    async run({ services }) {
      const isNew = await adoptSecret(services);
      const lost = await findUnreadable(services);
      const when = isNew ? "now" : "already";
      const advice = [
        "These can no longer be read:",
        ...lost.map((each) => `  ${each}`),
        "Set the values of secrets again. Addresses of triggers still work if the trigger has no signing secret.",
        "Apply their definitions again with their secrets. A token that cannot be read is then replaced.",
        "Rotate the secrets of callbacks, and give the new ones to their receivers.",
      ];
      return [`The database ${when} uses this STEPWELL_SECRET.`, ...(lost.length > 0 ? advice : [])].join(
        "\n",
      );
    },
  }),
];
