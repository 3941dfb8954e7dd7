package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

class KeyPopulationTest {

  /** The keys that YCSB itself inserts with these properties. */
  private static Set<String> insertedByYcsb(Map<String, String> properties) throws Exception {
    Properties all = new Properties();
    all.putAll(properties);
    Measurements.setProperties(all);
    CoreWorkload workload = new CoreWorkload();
    workload.init(all);
    Set<String> keys = new HashSet<>();
    DB recorder = new Recorder(keys);
    String count = properties.getOrDefault("insertcount", properties.get("recordcount"));
    for (int i = 0; i < Integer.parseInt(count); i++) {
      workload.doInsert(recorder, new Object());
    }
    return keys;
  }

  private static void assertSameKeys(Map<String, String> properties) throws Exception {
    KeyPopulation population = KeyPopulation.of(properties);
    Set<String> ours = new HashSet<>();
    for (int i = 0; i < population.size(); i++) {
      ours.add(population.key(i));
    }
    assertThat(ours).isEqualTo(insertedByYcsb(properties));
  }

  @Test
  void hasKeysThatYcsbInserts() throws Exception {
    assertSameKeys(Map.of("recordcount", "500"));
    assertSameKeys(Map.of("recordcount", "500", "insertorder", "ordered"));
    assertSameKeys(Map.of("recordcount", "50", "insertorder", "ordered", "zeropadding", "12"));
    assertSameKeys(Map.of("recordcount", "50", "zeropadding", "24"));
  }

  @Test
  void insertStartShiftsKeys() throws Exception {
    // The bench's properties for 100 records from number 1000 on.
    Map<String, String> properties =
        Map.of("recordcount", "1100", "insertstart", "1000", "insertcount", "100");
    assertSameKeys(properties);
  }

  @Test
  void splitPointsDivideKeysEvenly() {
    KeyPopulation population = KeyPopulation.of(Map.of("recordcount", "9000"));
    List<String> points = population.splitPoints(12);
    assertThat(points).hasSize(11).isSorted();
    int[] counts = new int[12];
    for (int i = 0; i < population.size(); i++) {
      String key = population.key(i);
      counts[(int) points.stream().filter(point -> point.compareTo(key) <= 0).count()]++;
    }
    assertThat(counts).containsOnly(750);
  }

  @Test
  void fewRecordsHaveFewerSplitPoints() {
    assertThat(KeyPopulation.of(Map.of("recordcount", "2")).splitPoints(12)).hasSize(1);
    assertThat(KeyPopulation.of(Map.of("recordcount", "1")).splitPoints(12)).isEmpty();
  }

  @Test
  void rejectsInvalidProperties() {
    assertThatThrownBy(() -> KeyPopulation.of(Map.of("recordcount", "many")))
        .isInstanceOf(InvalidPropertyException.class)
        .hasMessageContaining("recordcount is 'many'");
    assertThatThrownBy(() -> KeyPopulation.of(Map.of("recordcount", "5", "zeropadding", "0")))
        .isInstanceOf(InvalidPropertyException.class);
    assertThatThrownBy(() -> KeyPopulation.of(Map.of("recordcount", "5", "insertstart", "5")))
        .isInstanceOf(InvalidPropertyException.class)
        .hasMessageContaining("no records");
  }

  /** Collects the keys of the inserts. */
  private static final class Recorder extends DB {
    private final Set<String> keys;

    Recorder(Set<String> keys) {
      this.keys = keys;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      keys.add(key);
      return Status.OK;
    }

    @Override
    public Status read(
        String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    @SuppressWarnings({"JdkObsolete", "NonApiType"}) // YCSB's signature
    public Status scan(
        String table,
        String startKey,
        int count,
        Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status delete(String table, String key) {
      return Status.NOT_IMPLEMENTED;
    }
  }
}
