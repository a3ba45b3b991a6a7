#!/usr/bin/env perl
# Prints docs/repairs.md with its tables made anew from the kinds of problem in the code: their groups, their order and
# what is said of each are those of lib/base/problem_kinds.h. A test compares the two.
#
#   scripts/repairs.pl > repairs.new && mv repairs.new docs/repairs.md
use strict;
use warnings;
use File::Basename;

chdir dirname(__FILE__) . '/..' or die;
my ($begin, $end) = ("<!-- kinds: begin -->\n", "<!-- kinds: end -->\n");

my $document = slurp('docs/repairs.md');
$document =~ /\Q$begin\E.*\Q$end\E/s or die "docs/repairs.md: no place for the tables\n";
my ($before, $after) = ($`, $');
print $before, $begin, tables(), $end, $after;

sub tables {
  my $string = qr/"(?:[^"\\]|\\.)*"/;
  my $text = '';
  my $code = slurp('lib/base/problem_kinds.h') =~ s/.*#endif\n//sr;
  while ($code =~ m{^// (.*)|^PROBLEM\(\s*(\w+),\s*(info|notice|loss),\s*((?:$string\s*)+)\)}mg) {
    my ($group, $name, $severity, $literals) = ($1, $2, $3, $4);
    if (defined $group) {
      $text .= "\n### " . ucfirst($group) . "\n\n| kind | severity | what it means, and what was done |\n|---|---|---|\n";
    } else {
      my $sentence = join '', map { s/^"|"$//gr } $literals =~ /$string/g;
      $sentence =~ s/\\(.)/$1/g;
      $sentence =~ s/([|<>])/\\$1/g;
      $text .= "| `$name` | $severity | $sentence |\n";
    }
  }
  return "$text\n";
}

sub slurp {
  my ($path) = @_;
  open my $file, '<', $path or die "$path: $!\n";
  local $/;
  return <$file>;
}
