# zsh -f print-offers.zsh WORDS...: prints what zsh offers to complete each argument. Completion works only in an
# interactive shell on a terminal, so this starts one, replaces compadd by a function that notes what is offered, and
# presses the key that completes. With -O, -A or -D compadd only filters, for a completion function, and offers nothing.
zmodload zsh/zpty
export TERM=dumb COLUMNS=200
zpty shell zsh -f -i
zpty -w shell 'PS1= PS2=
fpath=($PWD/share/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -u -D
typeset -ga offered
compadd() {
  if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
    local -a matches
    builtin compadd -O matches "$@"
    offered+=($matches)
  fi
  builtin compadd "$@"
}
complete_typed() {
  offered=() BUFFER=$typed CURSOR=$#typed
  zle list_offers
  print -r -- "$typed: ${(@ou)offered}" >> offers.txt
  BUFFER=
}
list_offers() { _main_complete; compstate[insert]=; compstate[list]= }
zle -C list_offers complete-word list_offers
zle -N complete_typed
bindkey "^T" complete_typed
print "rea""dy"'
# The shell repeats what it is given, so the word to wait for is given in two parts.
zpty -r shell text '*ready*'
for words; do
  zpty -w shell "typed=${(q)words}; print 's''et'"
  zpty -r shell text '*set*'
  zpty -n -w shell $'\x14'
  zpty -w shell "print 'do''ne'"
  zpty -r shell text '*done*'
done
zpty -d shell
cat offers.txt
rm offers.txt
