import { useSuspenseQuery } from "@tanstack/react-query";
import { useTRPC } from "@/app/_ui/data/providers";
import { SelectField } from "@/app/_ui/forms/form";
import { notify } from "@/app/_ui/toast";
import { type PartProps, Rest, textFieldAt } from "../part-form";
import { RepairLinks } from "../problems/repair-links";
import { restoreFunction, setFunction } from "../problems/set-aside";
import { pathOf, type StepPlace, type StepView } from "../tool-document";
import { FlowFields, hasControl } from "./flow-fields";
import { StepIdField } from "./step-id-field";
import { inputsOf, StepInputs } from "./step-inputs";

export function CallFields({ step, place, ...props }: PartProps & { step: StepView; place: StepPlace }) {
  const trpc = useTRPC();
  const { data: functions } = useSuspenseQuery(trpc.definitions.functions.queryOptions());
  const { problems, textOf, onChange } = props;
  const at = pathOf(place);
  const used = functions.find(({ name }) => name === step.uses);
  function call(uses: string) {
    const from = textOf();
    const aside = props.aside.of(step.id);
    const takes = new Set(inputsOf(functions.find((each) => each.name === uses)).map(({ name }) => name));
    const called = setFunction(from, { place, uses, takes, aside });
    onChange(() => called.text);
    props.aside.set(step.id, called.aside);
    const added = Object.keys(called.aside).filter((name) => !Object.hasOwn(aside, name));
    if (added.length === 0) return;
    notify(`Set aside: ${added.join(", ")}`, `${uses} doesn't take ${added.length === 1 ? "it" : "them"}.`, {
      label: "Undo",
      run() {
        onChange((later) => (later === called.text ? from : restoreFunction(later, { from, id: step.id })));
        props.aside.set(step.id, aside);
      },
    });
  }
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <div data-field="id">
          <StepIdField {...props} place={place} step={step} />
        </div>
        <div data-field="uses">
          <SelectField
            {...textFieldAt(props, [...at, "uses"])}
            hint={used?.description}
            label="Function"
            onChange={call}
          >
            {used ? null : <option value={step.uses ?? ""}>{step.uses || "Choose a function"}</option>}
            {functions.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </SelectField>
          <RepairLinks {...props} at={[...at, "uses"]} />
        </div>
      </div>
      <StepInputs
        {...props}
        key={step.uses}
        onSetAside={() => call(step.uses ?? "")}
        {...{ place, step, used }}
      />
      <FlowFields {...props} place={place} step={step} />
      <Rest
        problems={problems.filter(
          ({ path }) => at.every((key, index) => path[index] === key) && !hasControl(path.slice(at.length)),
        )}
      />
    </>
  );
}
