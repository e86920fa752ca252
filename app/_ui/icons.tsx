import {
  ArrowDown,
  ArrowUp,
  BookOpen,
  Bot,
  Building2,
  ChartNoAxesColumn,
  Check,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  ChevronsUpDown,
  CircleUser,
  CodeXml,
  Coins,
  Copy,
  Cpu,
  Download,
  Ellipsis,
  Gauge,
  KeyRound,
  Link2,
  ListTree,
  LockKeyhole,
  LogOut,
  type LucideIcon,
  Menu,
  MessageSquare,
  Monitor,
  Moon,
  Pencil,
  Play,
  Plus,
  Route,
  ScrollText,
  Search,
  Sparkles,
  Sun,
  Terminal,
  TextAlignStart,
  Trash2,
  TriangleAlert,
  Users,
  Workflow,
  Wrench,
  X,
  Zap,
  ZoomIn,
} from "lucide-react";
import type { SVGProps } from "react";

type Props = { className?: string | undefined; size?: number };

/** An icon at 16 px with a line of 1.5 px. It has no accessible name: the control around it has one. */
const icon = (Lucide: LucideIcon) =>
  function Icon({ size = 16, className = "" }: Props) {
    return (
      <Lucide absoluteStrokeWidth aria-hidden="true" className={className} size={size} strokeWidth={1.5} />
    );
  };

export const RunsIcon = icon(ListTree);
export const AgentIcon = icon(Bot);
export const ToolIcon = icon(Workflow);
export const TriggerIcon = icon(Zap);
export const KeyIcon = icon(KeyRound);
export const ModelIcon = icon(Cpu);
export const SecretIcon = icon(LockKeyhole);
export const OrganizationIcon = icon(Building2);
export const AccountIcon = icon(CircleUser);
export const ReferenceIcon = icon(CodeXml);
export const DocsIcon = icon(BookOpen);
export const ChartIcon = icon(ChartNoAxesColumn);
export const CreditsIcon = icon(Coins);
export const MembersIcon = icon(Users);
export const AuditIcon = icon(ScrollText);
export const ChevronLeftIcon = icon(ChevronLeft);
export const ChevronRightIcon = icon(ChevronRight);
export const ChevronDownIcon = icon(ChevronDown);
export const UpDownIcon = icon(ChevronsUpDown);
export const CopyIcon = icon(Copy);
export const PathIcon = icon(Route);
export const LinkIcon = icon(Link2);
export const CheckIcon = icon(Check);
export const CloseIcon = icon(X);
export const SearchIcon = icon(Search);
export const ZoomIcon = icon(ZoomIn);
export const MoreIcon = icon(Ellipsis);
export const MenuIcon = icon(Menu);
export const EditIcon = icon(Pencil);
export const PlayIcon = icon(Play);
export const PlusIcon = icon(Plus);
export const UpIcon = icon(ArrowUp);
export const DownIcon = icon(ArrowDown);
export const RemoveIcon = icon(Trash2);
export const SunIcon = icon(Sun);
export const MoonIcon = icon(Moon);
export const SystemThemeIcon = icon(Monitor);
export const SignOutIcon = icon(LogOut);
export const DownloadIcon = icon(Download);
export const TerminalIcon = icon(Terminal);
export const WarningIcon = icon(TriangleAlert);
export const SparkIcon = icon(Sparkles);
export const GaugeIcon = icon(Gauge);
export const MessageIcon = icon(MessageSquare);
export const TextIcon = icon(TextAlignStart);
export const WrenchIcon = icon(Wrench);

export const StepwellMark = (props: SVGProps<SVGSVGElement>) => (
  <svg aria-hidden="true" fill="currentColor" height="20" viewBox="0 0 20 20" width="20" {...props}>
    <rect height="4" rx="1" width="6" x="2" y="13" />
    <rect height="4" opacity="0.75" rx="1" width="10" x="2" y="8" />
    <rect height="4" opacity="0.5" rx="1" width="16" x="2" y="3" />
  </svg>
);
