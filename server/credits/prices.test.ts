import { describe, expect, it } from "vitest";
import { Decimal } from "@/server/base/amount";
import { DEFAULT_PRICES, type PriceList } from "@/server/base/price-list";
import { creditsOfActions, creditsOfTokens, holdForFirstCall, outputTokensFor } from "./prices";

describe("prices", () => {
  it("charges 0.1 per 1,000 input tokens, 0.4 per 1,000 output tokens, 0.01 per action", () => {
    expect(
      creditsOfTokens(DEFAULT_PRICES, "any-model", { inputTokens: 1000, outputTokens: 1000 }).toString(),
    ).toBe("0.5");
    expect(
      creditsOfTokens(DEFAULT_PRICES, "any-model", { inputTokens: 311, outputTokens: 42 }).toString(),
    ).toBe("0.0479");
    expect(creditsOfActions(DEFAULT_PRICES, 3).toString()).toBe("0.03");
  });

  it("prefers a listed model, and ignores inherited property names", () => {
    const list: PriceList = {
      defaultModel: { input: new Decimal("0.1"), output: new Decimal("0.4") },
      models: { big: { input: new Decimal(1), output: new Decimal(4) } },
      action: new Decimal("0.01"),
    };
    expect(creditsOfTokens(list, "big", { inputTokens: 1000, outputTokens: 0 }).toString()).toBe("1");
    expect(creditsOfTokens(list, "constructor", { inputTokens: 1000, outputTokens: 0 }).toString()).toBe(
      "0.1",
    );
  });

  it("holds at least 0.01, and prompt plus 1,000 output tokens", () => {
    expect(holdForFirstCall(DEFAULT_PRICES, "m", 1000).toString()).toBe("0.5");
    const free: PriceList = {
      models: {},
      defaultModel: { input: new Decimal(0), output: new Decimal(0) },
      action: new Decimal(0),
    };
    expect(holdForFirstCall(free, "m", 1000).toString()).toBe("0.01");
  });

  it("never allows more output than the credits pay for", () => {
    for (const credits of ["0.0001", "0.1", "0.5003", "1.2345"]) {
      const tokens = outputTokensFor(DEFAULT_PRICES, {
        model: "m",
        credits: new Decimal(credits),
        inputTokens: 700,
      });
      const cost = creditsOfTokens(DEFAULT_PRICES, "m", { inputTokens: 700, outputTokens: tokens });
      if (tokens > 0) expect(cost.lte(new Decimal(credits).add("0.00005"))).toBe(true);
      else expect(new Decimal(credits).lt("0.0704")).toBe(true);
    }
  });
});
