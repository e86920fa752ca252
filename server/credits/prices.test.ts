import { describe, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { DEFAULT_PRICES, type PriceList } from "@/server/base/models/price-list";
import {
  creditsOfActions,
  creditsOfUsage,
  freezePrices,
  frozenPrices,
  holdForFirstCall,
  mostCreditsOf,
  outputTokensFor,
} from "./prices";

describe("prices", () => {
  it("charges 0.1 per 1,000 input tokens, 0.4 per 1,000 output tokens, 0.01 per action", () => {
    expect(
      creditsOfUsage(DEFAULT_PRICES, "any-model", { inputTokens: 1000, outputTokens: 1000 }).toString(),
    ).toBe("0.5");
    expect(
      creditsOfUsage(DEFAULT_PRICES, "any-model", { inputTokens: 311, outputTokens: 42 }).toString(),
    ).toBe("0.0479");
    expect(creditsOfActions(DEFAULT_PRICES, 3).toString()).toBe("0.03");
  });

  it("prefers a listed model, and ignores inherited property names", () => {
    const list: PriceList = {
      defaultModel: { input: new Decimal("0.1"), output: new Decimal("0.4") },
      models: { big: { input: new Decimal(1), output: new Decimal(4) } },
      action: new Decimal("0.01"),
    };
    expect(creditsOfUsage(list, "big", { inputTokens: 1000, outputTokens: 0 }).toString()).toBe("1");
    expect(creditsOfUsage(list, "constructor", { inputTokens: 1000, outputTokens: 0 }).toString()).toBe(
      "0.1",
    );
  });

  const cached: PriceList = {
    defaultModel: { input: new Decimal("0.1"), output: new Decimal("0.4") },
    models: {
      cached: {
        input: new Decimal(1),
        cachedInput: new Decimal("0.1"),
        cacheWrite: new Decimal("1.25"),
        output: new Decimal(5),
      },
    },
    action: new Decimal("0.01"),
  };
  const usage = { inputTokens: 1000, outputTokens: 100, cachedInputTokens: 600, cacheWriteTokens: 300 };

  it("charges cached and written input at their own prices, or else as input", () => {
    // 100 × 1 + 600 × 0.1 + 300 × 1.25 + 100 × 5, for a thousand each.
    expect(creditsOfUsage(cached, "cached", usage).toString()).toBe("1.035");
    expect(creditsOfUsage(cached, "other", usage).toString()).toBe("0.14");
  });

  it("holds what the dearest input costs, and gives output only for the rest", () => {
    expect(holdForFirstCall(cached, ["cached"], 1000).toString()).toBe("6.25");
    expect(holdForFirstCall(cached, ["other", "cached"], 1000).toString()).toBe("6.25");
    const credits = mostCreditsOf(cached, "cached", { inputTokens: 1000, outputTokens: 100 });
    expect(credits.toString()).toBe("1.75");
    expect(outputTokensFor(cached, { model: "cached", credits, inputTokens: 1000 })).toBe(100);
  });

  it("reads frozen prices of runs that were started before cached input had a price", () => {
    const frozen =
      '{"models":{"m":{"input":"1","output":"4"}},"defaultModel":{"input":"0.1","output":"0.4"},"action":"0.01"}';
    const list = frozenPrices.parse(JSON.parse(frozen));
    expect(creditsOfUsage(list, "m", usage).toString()).toBe("1.4");
    // Equal lists still give equal configurations.
    expect(JSON.stringify(freezePrices(list))).toBe(
      '{"defaultModel":{"input":"0.1","output":"0.4"},"models":{"m":{"input":"1","output":"4"}},"action":"0.01"}',
    );
    expect(frozenPrices.parse(JSON.parse(JSON.stringify(freezePrices(cached))))).toEqual(cached);
  });

  it("holds at least 0.01, and prompt plus 1,000 output tokens", () => {
    expect(holdForFirstCall(DEFAULT_PRICES, ["m"], 1000).toString()).toBe("0.5");
    const free: PriceList = {
      models: {},
      defaultModel: { input: new Decimal(0), output: new Decimal(0) },
      action: new Decimal(0),
    };
    expect(holdForFirstCall(free, ["m"], 1000).toString()).toBe("0.01");
  });

  it("never allows more output than the credits pay for", () => {
    for (const credits of ["0.0001", "0.1", "0.5003", "1.2345"]) {
      const tokens = outputTokensFor(DEFAULT_PRICES, {
        model: "m",
        credits: new Decimal(credits),
        inputTokens: 700,
      });
      const cost = creditsOfUsage(DEFAULT_PRICES, "m", { inputTokens: 700, outputTokens: tokens });
      if (tokens > 0) expect(cost.lte(new Decimal(credits).add("0.00005"))).toBe(true);
      else expect(new Decimal(credits).lt("0.0704")).toBe(true);
    }
  });
});
