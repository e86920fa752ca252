import type { ReactNode, SVGProps } from "react";

/**
 * The dashboard's icons, drawn on 16 × 16 with a 1.5 line. They have no accessible name: the control around them has
 * one.
 */
function Icon({ children, ...props }: SVGProps<SVGSVGElement> & { children: ReactNode }) {
  return (
    <svg
      aria-hidden="true"
      fill="none"
      height="16"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.5"
      viewBox="0 0 16 16"
      width="16"
      {...props}
    >
      {children}
    </svg>
  );
}

type Props = SVGProps<SVGSVGElement>;

export const RunsIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M2.5 4h4M4.5 8h7M8.5 12h5" />
  </Icon>
);
export const AgentIcon = (props: Props) => (
  <Icon {...props}>
    <rect height="8" rx="2" width="11" x="2.5" y="5" />
    <path d="M8 5V2.5M6 8.5v1M10 8.5v1" />
  </Icon>
);
export const ToolIcon = (props: Props) => (
  <Icon {...props}>
    <rect height="4" rx="1" width="4" x="2" y="2.5" />
    <rect height="4" rx="1" width="4" x="10" y="9.5" />
    <path d="M6 4.5h4a2 2 0 0 1 2 2v3" />
  </Icon>
);
export const TriggerIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z" />
  </Icon>
);
export const KeyIcon = (props: Props) => (
  <Icon {...props}>
    <circle cx="5.2" cy="10.8" r="2.7" />
    <path d="m7.2 8.8 6-6M11 5l1.8 1.8" />
  </Icon>
);
export const ChartIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M2.5 13.5h11M4.5 11V8M8 11V4.5M11.5 11V6.5" />
  </Icon>
);
export const CreditsIcon = (props: Props) => (
  <Icon {...props}>
    <ellipse cx="8" cy="4.5" rx="5" ry="2" />
    <path d="M3 4.5v7c0 1.1 2.2 2 5 2s5-.9 5-2v-7M3 8c0 1.1 2.2 2 5 2s5-.9 5-2" />
  </Icon>
);
export const MembersIcon = (props: Props) => (
  <Icon {...props}>
    <circle cx="6" cy="5.5" r="2.5" />
    <path d="M1.8 13.5c.3-2.4 2-3.8 4.2-3.8s3.9 1.4 4.2 3.8M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 10.2c1.3.6 2 1.8 2.2 3.3" />
  </Icon>
);
export const AuditIcon = (props: Props) => (
  <Icon {...props}>
    <rect height="11" rx="1.5" width="9" x="3.5" y="2.5" />
    <path d="M6 5.8h4M6 8.3h4M6 10.8h2.5" />
  </Icon>
);
export const ChevronLeftIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M10 3.5 5.5 8l4.5 4.5" />
  </Icon>
);
export const ChevronRightIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M6 3.5 10.5 8 6 12.5" />
  </Icon>
);
export const ChevronDownIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M3.5 6 8 10.5 12.5 6" />
  </Icon>
);
export const UpDownIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M5 6.2 8 3.2l3 3M5 9.8l3 3 3-3" />
  </Icon>
);
export const CopyIcon = (props: Props) => (
  <Icon {...props}>
    <rect height="8" rx="1.5" width="8" x="5.5" y="5.5" />
    <path d="M3.5 10.5A1 1 0 0 1 2.5 9.5v-6a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1" />
  </Icon>
);
export const PathIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M2.5 4.5h.01M5 12l3-8M9 12l3-8" />
  </Icon>
);
export const LinkIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2A2.6 2.6 0 0 0 9 3.3l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.8-.8" />
  </Icon>
);
export const CheckIcon = (props: Props) => (
  <Icon {...props}>
    <path d="m3 8.5 3.2 3.2L13 4.8" />
  </Icon>
);
export const CloseIcon = (props: Props) => (
  <Icon {...props}>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);
export const SearchIcon = (props: Props) => (
  <Icon {...props}>
    <circle cx="7" cy="7" r="4.2" />
    <path d="m10.2 10.2 3.3 3.3" />
  </Icon>
);
export const ZoomIcon = (props: Props) => (
  <Icon {...props}>
    <circle cx="7" cy="7" r="4.2" />
    <path d="m10.2 10.2 3.3 3.3M7 5.2v3.6M5.2 7h3.6" />
  </Icon>
);
export const MoreIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />
  </Icon>
);
export const MenuIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
  </Icon>
);
export const PlusIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M8 3v10M3 8h10" />
  </Icon>
);
export const SunIcon = (props: Props) => (
  <Icon {...props}>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9" />
  </Icon>
);
export const MoonIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M13.3 9.6A5.6 5.6 0 0 1 6.4 2.7a5.6 5.6 0 1 0 6.9 6.9Z" />
  </Icon>
);
export const SystemThemeIcon = (props: Props) => (
  <Icon {...props}>
    <rect height="8.5" rx="1.5" width="12" x="2" y="2.5" />
    <path d="M5.5 13.5h5" />
  </Icon>
);
export const SignOutIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M6 2.5H3.5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1H6M10 11l3-3-3-3M13 8H6.5" />
  </Icon>
);
export const DownloadIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11" />
  </Icon>
);
export const TerminalIcon = (props: Props) => (
  <Icon {...props}>
    <path d="m3 4.5 3.5 3.5L3 11.5M8.5 12H13" />
  </Icon>
);
export const SparkIcon = (props: Props) => (
  <Icon {...props}>
    <path d="M8 2v3.2M8 10.8V14M2 8h3.2M10.8 8H14M4 4l1.8 1.8M10.2 10.2 12 12M12 4l-1.8 1.8M5.8 10.2 4 12" />
  </Icon>
);
export const StepwellMark = (props: Props) => (
  <svg aria-hidden="true" fill="currentColor" height="20" viewBox="0 0 20 20" width="20" {...props}>
    <rect height="4" rx="1" width="6" x="2" y="13" />
    <rect height="4" opacity="0.75" rx="1" width="10" x="2" y="8" />
    <rect height="4" opacity="0.5" rx="1" width="16" x="2" y="3" />
  </svg>
);
