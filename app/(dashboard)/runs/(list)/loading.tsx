import { Bone, PageHead } from "@/app/_ui/page";

const ROWS = ["w-40", "w-56", "w-48", "w-64", "w-44", "w-52", "w-60", "w-36"];

export default function RunsLoading() {
  return (
    <>
      <PageHead title="Runs" />
      <div aria-busy="true" className="border-line border-t">
        {ROWS.map((width) => (
          <div className="flex h-10 items-center border-line border-b px-6" key={width}>
            <Bone className={width} />
          </div>
        ))}
      </div>
    </>
  );
}
