package dev.onehop.testbed.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error in a topology file gives one line with the file's line number. */
class TopologyErrorsTest {
  private static final String GOOD =
      """
      name: good
      regions: [va, or]
      roundTrips:
        va <-> va: 0.6
        va <-> or: 68
      hosts:
        va1: {region: va, address: 127.27.1.1}
        va2: {region: va, address: 127.27.1.2}
        or1: {region: or, address: 127.27.2.1}
      client: va1
      configServers: [va1]
      shards:
        s1: [va2]
        s2: [or1]
      mongos: [va1, or1]
      """;

  @Test
  void acceptsValidFile() {
    assertThat(Topology.parse("good.yaml", GOOD).shards()).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          s2: [or1]        | s2: [or9]          | t.yaml:14: shard s2 names host 'or9', which is not defined
          client: va1      | client: va9        | t.yaml:10: client names host 'va9', which is not defined
          mongos: [va1     | mongos: [xx1       | t.yaml:15: mongos names host 'xx1', which is not defined
          or1: {region: or | or1: {region: orx  | t.yaml:9: host or1 is in region 'orx', which is not defined
          va <-> or: 68    | va <-> ox: 68      | t.yaml:5: round trip 'va <-> ox' names region 'ox', which is not defined
          va <-> or: 68    | va <-> va: 68      | t.yaml:5: 'va <-> va' is defined twice
          va <-> or: 68    | va -> va: 68       | t.yaml:5: round trip 'va -> va' is given twice
          va <-> or: 68    | va -> or: 68       | t.yaml:3: the round trip between regions 'or' and 'va' is missing (hosts or1 and va1)
          va <-> va: 0.6   | or <-> or: 0.6     | t.yaml:3: the round trip between regions 'va' and 'va' is missing (hosts va1 and va2)
          va <-> or: 68    | va <-> or: fast    | t.yaml:5: round trip 'va <-> or' is 'fast', which is not a number of milliseconds
          va <-> or: 68    | va <-> or: -1      | t.yaml:5: round trip 'va <-> or' is '-1', which is not a number of milliseconds
          va <-> or: 68    | va or: 68          | t.yaml:5: 'va or' is not a pair of regions: write 'a <-> b' or 'a -> b'
          s2: [or1]        | s1: [or1]          | t.yaml:14: 's1' is defined twice
          or1: {region: or | va1: {region: or   | t.yaml:9: 'va1' is defined twice
          [va, or]         | [va, va]           | t.yaml:2: region 'va' is named twice
          127.27.2.1       | 127.27.1.1         | t.yaml:9: hosts va1 and or1 have the same address 127.27.1.1
          127.27.2.1       | 10.27.1.1          | t.yaml:9: host or1 has address '10.27.1.1', which is not of the form 127.x.y.z
          127.27.2.1       | 127.27.1.300       | t.yaml:9: host or1 has address '127.27.1.300', which is not of the form 127.x.y.z
          client: va1      | cilent: va1        | t.yaml:10: unknown key 'cilent'
          address: 127.27.2.1 | adress: 127.27.2.1 | t.yaml:9: unknown key 'adress' in host or1
          name: good       | description: good  | t.yaml:1: key 'name' is missing
          [va2]            | []                 | t.yaml:13: shard s1 must be a list with at least one entry
          [va2]            | [va2, va2]         | t.yaml:13: shard s1 names host 'va2' twice
          name: good       | name: ../good      | t.yaml:1: name '../good' may contain only letters, digits, '-', '_' and '.'
          mongos: [va1, or1] | mongos: [va1, or1 | t.yaml:16: not YAML: expected ',' or ']', but got <stream end>
          """)
  void reportsLineOfError(String good, String bad, String message) {
    String yaml = GOOD.replace(good, bad);
    assertThat(yaml).isNotEqualTo(GOOD);
    assertThatThrownBy(() -> Topology.parse("t.yaml", yaml))
        .isInstanceOf(TopologyException.class)
        .hasMessage(message);
  }

  @Test
  void rejectsEmptyFile() {
    assertThatThrownBy(() -> Topology.parse("t.yaml", ""))
        .isInstanceOf(TopologyException.class)
        .hasMessage("t.yaml:1: the file is empty");
  }
}
