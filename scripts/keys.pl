#!/usr/bin/env perl
# Compares the keys of tables in the pages of commands with those that the tools declare, or writes them. A page has, in its
# section JSON, a row for each table of its command,
#
#   | `rows[]` | what the table is about, by hand | `rank`, `total_ns`: written by this program |
#
# and before that, in comments, commands whose outputs have all of its tables: <!-- keys: trace-stats comm --each FILE -->
#
#   PATH=<bin folder>:$PATH scripts/keys.pl [--check] PAGE...    in the folder that has testdata/
use strict;
use warnings;

my $check = @ARGV && $ARGV[0] eq '--check' ? shift : 0;
my ($wrong, $tables) = (0, 0);
update($_) for @ARGV;
print "$tables tables, $wrong wrong\n";
exit($wrong || !$tables ? 1 : 0);

sub wrong {
  print "$_[0]\n";
  $wrong++;
}

sub update {
  my ($page) = @_;
  my $old = slurp($page);
  my @commands = $old =~ /^<!-- keys: (.*?) -->$/mg;
  wrong("$page: no comment says which command has the keys of the section JSON") if !@commands && $old =~ /^## JSON$/m;
  return if !@commands;
  my %keys = keys_of(@commands);
  wrong("$page: its commands list no columns: @commands") if !%keys;
  my %seen;
  my $new = join '', map { row($page, $_, \%keys, \%seen) } split /(?<=\n)/, $old;
  $seen{$_} or wrong("$page: the table $_ has no row `${_}[]`") for sort keys %keys;
  $tables += keys %keys;
  return if $check || $new eq $old;
  open(my $out, '>', $page) or die "$page: $!\n";
  print $out $new;
}

# Returns the line as it should be.
sub row {
  my ($page, $line, $keys, $seen) = @_;
  my ($table, $content, $found) = $line =~ /^\| `(\w+)\[\]` \| (.*?) \| (.*) \|$/ or return $line;
  if (!$keys->{$table}) {
    wrong("$page: the command has no table $table");
    return $line;
  }
  $seen->{$table} = 1;
  my $wanted = join ', ', map { "`$_`" } @{$keys->{$table}};
  if ($check && $found ne $wanted) {
    my %documented = map { $_ => 1 } $found =~ /`(\w+)`/g;
    my %declared = map { $_ => 1 } @{$keys->{$table}};
    wrong("$page: $table has $_, which is not in its row") for grep { !$documented{$_} } sort keys %declared;
    wrong("$page: $_ is in the row of $table, which does not have it") for grep { !$declared{$_} } sort keys %documented;
    wrong("$page: the keys of $table are not in their order: run scripts/update-docs.sh") if "@{[sort keys %documented]}" eq "@{[sort keys %declared]}";
  }
  return "| `${table}[]` | $content | $wanted |\n";
}

# Returns the keys of each table, in their order, also those of columns that the outputs do not need.
sub keys_of {
  my (%keys, %seen);
  for my $command (@_) {
    open(my $output, '-|', "$command --format columns 2>/dev/null") or die "$command: $!\n";
    while (<$output>) {
      my ($table, $key) = split /\t/;
      push @{$keys{$table}}, $key if !$seen{$table}{$key}++;
    }
    close($output);  # a gate may have failed
  }
  return %keys;
}

sub slurp {
  my ($path) = @_;
  open(my $in, '<', $path) or die "$path: $!\n";
  local $/;
  return scalar <$in>;
}
