/** What a shell can complete as a value: words, or what is found at that moment. */
type CompletedValue = readonly string[] | 'file' | 'run' | 'recording' | 'strategy' | 'any';

/** An option as a shell completes it. */
export interface CompletedOption {
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined for an option that takes none. */
  readonly value: CompletedValue | undefined;
  readonly isValueOptional?: boolean;
}

/** A command as a shell completes it. */
export interface CompletedCommand {
  /** With its ancestors: "gannet wallet close-empty". */
  readonly path: string;
  readonly options: readonly CompletedOption[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** What its first argument is; undefined without one. */
  readonly argument: CompletedValue | undefined;
}

/** The scripts by shell. Each completes without starting Gannet. */
export const COMPLETION_SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of gannet in bash: source this file, for example from ~/.bashrc.\n${bashFunctions(commands)}`
    + 'complete -o default -F _gannet gannet\n';
}

/** The functions of bash work in zsh, which brings what they need of bash. */
function zshScript(commands: readonly CompletedCommand[]): string {
  return '#compdef gannet\n# Completion of gannet in zsh: source this file from ~/.zshrc, after compinit.\n'
    + `autoload -Uz bashcompinit && bashcompinit\n${bashFunctions(commands)}complete -o default -F _gannet gannet\n`;
}

function bashFunctions(commands: readonly CompletedCommand[]): string {
  const subcommands = commands.flatMap(({ path, commands: own }) => own.map(({ name }) => `${path} ${name}`));
  const values = commands.flatMap(({ path, options }) => options.flatMap(({ names, value, isValueOptional = false }) =>
    (value === undefined ? [] : names.map((name) => ({ path, name, value, isValueOptional })))));
  const taking = [...new Set(values.filter(({ isValueOptional }) => !isValueOptional).map(({ name }) => name))];
  return `# Prints the value of --state-dir or --config before the cursor, or the default.
_gannet_given() {
  local found="$2" at
  for ((at = 1; at + 1 < COMP_CWORD; at++)); do
    [[ "\${COMP_WORDS[at]}" == "$1" ]] && found="\${COMP_WORDS[at + 1]}"
  done
  printf '%s' "$found"
}
_gannet_values() {
  local state
  state=$(_gannet_given --state-dir ./state)
  case "$1" in
    run) [ -d "$state/runs" ] && command ls -1 "$state/runs" 2>/dev/null ;;
    recording) [ -d "$state/recordings" ] && command ls -1 "$state/recordings" 2>/dev/null ;;
    strategy) command sed -n '/^strategies:/,$s/.*[ {]name: *\\([A-Za-z0-9_.-]*\\).*/\\1/p' \\
      "$(_gannet_given --config config/gannet.yaml)" 2>/dev/null ;;
  esac
}
_gannet() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" before="" place="gannet" word at
  ((COMP_CWORD > 0)) && before="\${COMP_WORDS[COMP_CWORD - 1]}"
  COMPREPLY=()
  # bash separates --level=warn at its "=".
  if [[ "$cur" == "=" ]]; then cur=""
  elif [[ "$before" == "=" ]]; then before="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      ${taking.join('|')}) ((at++)); [[ "\${COMP_WORDS[at]}" == "=" ]] && ((at++)) ;;
      -*) ;;
      *) case "$place $word" in
${wrapped(subcommands.map((path) => `"${path}"`), '|', '        ')}) place="$place $word" ;;
      esac ;;
    esac
  done
  local words="" kind=""
  case "$place $before" in
${values.map(({ path, name, value }) => `    "${path} ${name}") ${assigned(value)} ;;\n`).join('')}  esac
  if [[ -z "$kind" ]]; then
    case "$place" in
${commands.map((command) => `      "${command.path}") ${ofCommand(command)} ;;\n`).join('')}    esac
    [[ "$cur" == -* ]] && kind=words
  fi
  case "$kind" in
    file) COMPREPLY=($(compgen -f -- "$cur")) ;;
    run|recording|strategy) COMPREPLY=($(compgen -W "$(_gannet_values "$kind")" -- "$cur")) ;;
    any) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;
  esac
}
`;
}

/** An option with a value: its words, or the kind of what is found. */
function assigned(value: CompletedValue): string {
  return typeof value === 'string' ? `kind=${value}` : `kind=words words=${quoted(value.join(' '))}`;
}

function ofCommand({ options, commands, argument }: CompletedCommand): string {
  const flags = options.flatMap(({ names }) => names.filter((name) => name.startsWith('--')));
  const choices = typeof argument === 'object' ? argument : [];
  const words = [...commands.map(({ name }) => name), ...choices, ...flags];
  const kind = typeof argument === 'string' && argument !== 'any' && commands.length === 0 ? ` kind=${argument}` : '';
  return `words=${quoted(words.join(' '))}${kind}`;
}

function wrapped(words: readonly string[], separator: string, indent: string): string {
  const lines: string[] = [];
  for (let from = 0; from < words.length; from += 4) lines.push(indent + words.slice(from, from + 4).join(separator));
  return lines.join(`${separator}\\\n`);
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll('\'', String.raw`'\''`)}'`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const options = commands[0]!.options.filter(({ value }) => value !== undefined).flatMap(({ names }) => names);
  const paths = commands.map(({ path }) => path);
  return `# Completion of gannet in fish: save this file as ~/.config/fish/completions/gannet.fish.
function __gannet_place
  set -l place gannet
  set -l skips 0
  for word in (commandline -opc)[2..-1]
    if test $skips -eq 1
      set skips 0
      continue
    end
    if contains -- $word ${options.join(' ')}
      set skips 1
    else if contains -- "$place $word" ${paths.map(quoted).join(' ')}
      set place "$place $word"
    end
  end
  echo $place
end
function __gannet_is
  test (__gannet_place) = "$argv[1]"
end
function __gannet_given
  set -l words (commandline -opc)
  set -l at (contains -i -- $argv[1] $words)
  and echo $words[(math $at + 1)]
  or echo $argv[2]
end
function __gannet_found
  set -l state (__gannet_given --state-dir ./state)
  switch $argv[1]
    case run recording
      command ls -1 "$state/$argv[1]s" 2>/dev/null
    case strategy
      set -l file (__gannet_given --config config/gannet.yaml)
      command sed -n '/^strategies:/,$s/.*[ {]name: *\\([A-Za-z0-9_.-]*\\).*/\\1/p' $file 2>/dev/null
  end
end
complete -c gannet -f
${commands.map(fishCommand).join('')}`;
}

function fishCommand({ path, options, commands, argument }: CompletedCommand): string {
  const here = `complete -c gannet -n ${quoted(`__gannet_is "${path}"`)}`;
  return [
    ...commands.map(({ name, description }) => `${here} -a ${name} -d ${quoted(description)}\n`),
    ...(argument === undefined || argument === 'any' ? [] : [`${here}${fishValue(argument)}\n`]),
    ...options.map(({ names, description, value }) => {
      const named = names.map((name) => (name.startsWith('--') ? ` -l ${name.slice(2)}` : ` -s ${name.slice(1)}`));
      const takes = value === undefined ? '' : value === 'any' ? ' -x' : ` -r${fishValue(value)}`;
      return `${here}${named.join('')}${takes} -d ${quoted(description)}\n`;
    }),
  ].join('');
}

function fishValue(value: CompletedValue): string {
  if (value === 'any') return '';
  if (typeof value !== 'string') return ` -f -a ${quoted(value.join(' '))}`;
  return value === 'file' ? ' -F' : ` -f -a ${quoted(`(__gannet_found ${value})`)}`;
}
