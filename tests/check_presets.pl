#!/usr/bin/env perl
# Fails for a test that no part of .ci/run or `./dev nightly` runs: its name has to match the filter of a test preset that
# `./dev shipped` or `./dev test` uses (by day without those of the label nightly).
#
#   check_presets.pl CMakePresets.json BUILD_FOLDER
use strict;
use warnings;
use JSON::PP;

my ($presets, $build) = @ARGV;
open(my $in, '<', $presets) or die "$presets: $!\n";
my $json = decode_json(do { local $/; <$in> });
my @wanted = map { $_->{filter}{include}{name} } grep { $_->{name} =~ /^(shipped-all|asan-daily)$/ } @{$json->{testPresets}};
@wanted == 2 or die "$presets: it has not both presets, shipped-all and asan-daily\n";
my @tests = `ctest --test-dir $build -N` =~ /^ *Test +#\d+: (\S+)$/mg;
my @missed = grep { my $test = $_; !grep { $test =~ /$_/ } @wanted } @tests;
print "$_ is run by no part of .ci/run or ./dev nightly\n" for @missed;
printf "%d tests, %d missed\n", scalar @tests, scalar @missed;
exit(@missed || !@tests ? 1 : 0);
