"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { Empty, PageHead } from "@/app/_ui/page/page";
import { OperatorCommand } from "../operator-command";
import { BalanceFigures } from "./balance-figures";
import { Ledger } from "./ledger";
import { UseOfCredits } from "./use-of-credits";

/** The balance, how fast it is used and by what, and every ledger entry behind it. */
export function CreditsView() {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.credits.balance.queryOptions());
  const none = data && Number(data.available) <= 0 && data.openRuns === 0;
  return (
    <>
      <PageHead title="Credits" />
      <BalanceFigures />
      {none ? (
        <Empty title="No credits left">
          <p>Runs need credits. The operator of this installation grants them:</p>
          <OperatorCommand>{'credits grant ORG 100 --note "More credits"'}</OperatorCommand>
        </Empty>
      ) : null}
      <UseOfCredits />
      <Ledger />
    </>
  );
}
