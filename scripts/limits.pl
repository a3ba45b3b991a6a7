#!/usr/bin/env perl
# Prints docs/commands/bottleneck.md with its table of limits made anew from kLimits in lib/analysis/verdict/verdict.h. A test
# compares the two.
#
#   scripts/limits.pl > limits.new && mv limits.new docs/commands/bottleneck.md
use strict;
use warnings;
use File::Basename;

chdir dirname(__FILE__) . '/..' or die;
my ($begin, $end) = ("<!-- limits: begin -->\n", "<!-- limits: end -->\n");

my $document = slurp('docs/commands/bottleneck.md');
$document =~ /\Q$begin\E.*\Q$end\E/s or die "docs/commands/bottleneck.md: no place for the table\n";
print $`, $begin, table(), $end, $';

sub table {
  slurp('lib/analysis/verdict/verdict.h') =~ /kLimits\{\{\n(.*?)\n\}\};/s or die "verdict.h: no table kLimits\n";
  my $text = "| limit | what would be saved at most without it |\n|---|---|\n";
  for my $row (split /\},\s*\{/, $1) {
    my ($name, @gain) = $row =~ /"((?:[^"\\]|\\.)*)"/g;
    $text .= "| `$name` | " . (join('', @gain) || 'the traces do not tell') . " |\n";
  }
  return $text;
}

sub slurp {
  my ($path) = @_;
  open my $file, '<', $path or die "$path: $!\n";
  local $/;
  return scalar <$file>;
}
