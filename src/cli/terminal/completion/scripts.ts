export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/*
 * The scripts ask the program for candidates, so that they never get out of date: one a line, with a tab
 * before what it means. Where there are none the shell offers files.
 */

const bash = `# Completion of voice-agent-mcp for bash. In ~/.bashrc: eval "$(voice-agent-mcp completion bash)"
_voice_agent_mcp() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <("$1" completion candidates "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -o bashdefault -F _voice_agent_mcp voice-agent-mcp`

const zsh = `#compdef voice-agent-mcp
# Completion of voice-agent-mcp for zsh. In ~/.zshrc, after compinit: eval "$(voice-agent-mcp completion zsh)"
_voice_agent_mcp() {
  local -a candidates
  local line
  for line in "\${(@f)$("\${words[1]}" completion candidates "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then
    _describe -V voice-agent-mcp candidates
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _voice_agent_mcp ]]; then
  _voice_agent_mcp "$@"
else
  compdef _voice_agent_mcp voice-agent-mcp
fi`

const fish = `# Completion of voice-agent-mcp for fish. In ~/.config/fish/config.fish: voice-agent-mcp completion fish | source
function __voice_agent_mcp_candidates
    set -l words (commandline -opc) (commandline -ct)
    set -l candidates (command $words[1] completion candidates $words[2..-1] 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c voice-agent-mcp -f -a '(__voice_agent_mcp_candidates)'`

/** What a shell runs to complete command lines of the program. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
