import type { SVGProps } from "react";

/** The icons by what they stand for. `Providers` sets their size and line; a label is on the control around them. */
export {
  ArrowDown as DownIcon,
  ArrowUp as UpIcon,
  Bookmark as ViewIcon,
  BookOpen as DocsIcon,
  Bot as AgentIcon,
  Building2 as OrganizationIcon,
  CalendarClock as ScheduleIcon,
  ChartNoAxesColumn as ChartIcon,
  Check as CheckIcon,
  ChevronDown as ChevronDownIcon,
  ChevronLeft as ChevronLeftIcon,
  ChevronRight as ChevronRightIcon,
  ChevronsUpDown as UpDownIcon,
  CircleUser as AccountIcon,
  CodeXml as ReferenceIcon,
  Coins as CreditsIcon,
  Columns2 as BesideIcon,
  Columns3 as ColumnsIcon,
  Copy as CopyIcon,
  Cpu as ModelIcon,
  Download as DownloadIcon,
  Ellipsis as MoreIcon,
  Gauge as GaugeIcon,
  GitBranch as ConditionIcon,
  GripVertical as GripIcon,
  KeyRound as KeyIcon,
  Link2 as LinkIcon,
  ListTree as RunsIcon,
  LockKeyhole as SecretIcon,
  LogOut as SignOutIcon,
  Menu as MenuIcon,
  MessageSquare as MessageIcon,
  Monitor as SystemThemeIcon,
  Moon as MoonIcon,
  Pencil as EditIcon,
  Pin as PinIcon,
  Play as PlayIcon,
  Plus as PlusIcon,
  Repeat as RepeatIcon,
  Route as PathIcon,
  ScrollText as AuditIcon,
  Search as SearchIcon,
  Sparkles as SparkIcon,
  Sun as SunIcon,
  Terminal as TerminalIcon,
  TextAlignStart as TextIcon,
  Trash2 as RemoveIcon,
  TriangleAlert as WarningIcon,
  Users as MembersIcon,
  Webhook as CallbackIcon,
  Workflow as ToolIcon,
  Wrench as WrenchIcon,
  X as CloseIcon,
  Zap as TriggerIcon,
  ZoomIn as ZoomIcon,
} from "lucide-react";

export const StepwellMark = (props: SVGProps<SVGSVGElement>) => (
  <svg aria-hidden="true" fill="currentColor" height="20" viewBox="0 0 20 20" width="20" {...props}>
    <rect height="4" rx="1" width="6" x="2" y="13" />
    <rect height="4" opacity="0.75" rx="1" width="10" x="2" y="8" />
    <rect height="4" opacity="0.5" rx="1" width="16" x="2" y="3" />
  </svg>
);
