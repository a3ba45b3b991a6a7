#!/usr/bin/env perl
# Prints docs/repairs.md with its tables made anew from the kinds of problem in the code: their groups and order are those of
# lib/base/problems.h, what is said of each stands in lib/base/problems.cpp. A test compares the two.
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
  my %kinds = kinds();
  my $text = '';
  for my $line (split /\n/, enumerators()) {
    if ($line =~ m{^\s*// (.*)}) {
      $text .= "\n### " . ucfirst($1) . "\n\n| kind | severity | what it means, and what was done |\n|---|---|---|\n";
    } elsif ($line =~ /^\s*(\w+),/) {
      my $kind = delete $kinds{$1} or die "problems.cpp does not describe $1\n";
      $text .= "| `$1` | $kind->{severity} | $kind->{sentence} |\n";
    }
  }
  die "problems.h does not name: @{[sort keys %kinds]}\n" if %kinds;
  return "$text\n";
}

sub enumerators {
  slurp('lib/base/problems.h') =~ /enum class Problem [^{]*\{\n(.*?)\n\s*count_/s or die "problems.h: no enum Problem\n";
  return $1;
}

# name => {severity, sentence}
sub kinds {
  my $string = qr/"(?:[^"\\]|\\.)*"/;
  my %kinds;
  my $code = slurp('lib/base/problems.cpp');
  while ($code =~ /\{"(\w+)",\s*(info|notice|loss),\s*((?:$string\s*)+)\}/g) {
    my ($name, $severity, $literals) = ($1, $2, $3);
    my $sentence = join '', map { s/^"|"$//gr } $literals =~ /$string/g;
    $sentence =~ s/\\(.)/$1/g;
    $sentence =~ s/([|<>])/\\$1/g;
    $kinds{$name} = {severity => $severity, sentence => $sentence};
  }
  return %kinds;
}

sub slurp {
  my ($path) = @_;
  open my $file, '<', $path or die "$path: $!\n";
  local $/;
  return <$file>;
}
