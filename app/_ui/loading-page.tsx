import { Bone, PageHead } from "@/app/_ui/page";

const ROWS = ["w-40", "w-56", "w-48", "w-64", "w-44", "w-52"];

/** A page of facts and rows that is still to come. */
export function LoadingPage({ title }: { title: string }) {
  return (
    <>
      <PageHead title={title} />
      <div aria-busy="true" className="border-line border-t">
        {ROWS.map((width) => (
          <div className="flex h-10 items-center border-line border-b px-4 sm:px-6" key={width}>
            <Bone className={width} />
          </div>
        ))}
      </div>
    </>
  );
}
