#!/usr/bin/env perl
# Checks what a reader of the documents would stumble over: relative links lead to files and headings that exist, every document
# in docs/ can be reached from README.md, and README.md is one page.
#
#   check_documents.pl ROOT
use strict;
use warnings;
use utf8;
use File::Basename;
binmode STDOUT, ':utf8';

my $root = shift or die "usage: check_documents.pl ROOT\n";
chdir $root or die "$root: $!\n";
my %limits = (lines => 120, words => 900, columns => 100);

my $wrong = 0;
my %headings;
my @documents = grep { -f } glob('*.md docs/*.md docs/*/*.md lib/README.md bench/*.md testdata/README.md');
my %leads_to = map { $_ => [check_links($_)] } @documents;
check_reached();
check_size();
printf "%d documents, %d wrong\n", scalar @documents, $wrong;
exit($wrong ? 1 : 0);

sub wrong {
  print "$_[0]\n";
  $wrong++;
}

# Returns the documents that it leads to.
sub check_links {
  my ($document) = @_;
  my @targets;
  my $text = without_code(slurp($document));
  while ($text =~ /\]\(([^)\s]+)\)/g) {
    my $link = $1;
    next if $link =~ m{^[a-z]+:};
    my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
    my $file = $path eq '' ? $document : normal(dirname($document) . "/$path");
    if (!-e $file) {
      wrong("$document: no such file: $link");
    } elsif (defined $anchor && !grep { $_ eq $anchor } headings_of($file)) {
      wrong("$document: no such heading: $link");
    }
    push @targets, $file;
  }
  return @targets;
}

sub check_reached {
  my %seen = ('README.md' => 1);
  my @next = ('README.md');
  while (defined(my $document = shift @next)) {
    push @next, grep { !$seen{$_}++ } @{$leads_to{$document} || []};
  }
  wrong("$_: nothing that README.md leads to has a link to it") for grep { m{^docs/} && !$seen{$_} } @documents;
}

sub check_size {
  my $text = slurp('README.md');
  my @lines = split /\n/, $text;
  my @words = split ' ', $text;
  my ($longest) = sort { $b <=> $a } map { length } @lines;
  wrong("README.md: " . @lines . " lines, $limits{lines} at most") if @lines > $limits{lines};
  wrong("README.md: " . @words . " words, $limits{words} at most") if @words > $limits{words};
  wrong("README.md: a line of $longest columns, $limits{columns} at most") if $longest > $limits{columns};
}

# The anchors that GitHub gives to headings: words in small letters, joined by '-', a number for the second of a name.
sub headings_of {
  my ($file) = @_;
  return @{$headings{$file}} if $headings{$file};
  my (@anchors, %count);
  for my $heading (without_blocks(slurp($file)) =~ /^#+ +(.*?)\s*$/mg) {
    my $anchor = lc $heading;
    $anchor =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
    $anchor =~ s/[^\w\- ]//g;
    $anchor =~ s/ /-/g;
    my $before = $count{$anchor}++;
    push @anchors, $before ? "$anchor-$before" : $anchor;
  }
  $headings{$file} = \@anchors;
  return @anchors;
}

sub without_blocks {
  my ($text) = @_;
  $text =~ s/^ *```.*?^ *```\s*$//msg;
  return $text;
}

sub without_code {
  my $text = without_blocks($_[0]);
  $text =~ s/`[^`\n]*`/code/g;
  return $text;
}

# a/../b and ./b are b.
sub normal {
  my ($path) = @_;
  $path =~ s{^\./}{};
  1 while $path =~ s{/\./}{/} || $path =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
  return $path;
}

sub slurp {
  my ($path) = @_;
  open my $file, '<:utf8', $path or die "$path: $!\n";
  local $/;
  return <$file>;
}
