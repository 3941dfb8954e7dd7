package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.ZonesResult.Crossed;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.evidence.Traffic.Flow;
import dev.onehop.testbed.evidence.Traffic.Party;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which bytes count as crossing zones, and which clients are compared. */
class ZoneTrafficTest {

  @Test
  void countsCrossingTrafficAndSeparatesReplication() {
    Crossed crossed =
        ZoneTraffic.crossed(
            new Traffic(
                Map.of(
                    new Flow("a", Party.CLIENT, "b", Party.ROUTER), 100L,
                    new Flow("b", Party.ROUTER, "a", Party.CLIENT), 300L,
                    new Flow("a", Party.CLIENT, "a", Party.ROUTER), 9_999L,
                    new Flow("c", Party.SHARD, "a", Party.CLIENT), 50L,
                    new Flow("a", Party.ROUTER, "c", Party.SHARD), 70L,
                    new Flow("b", Party.SHARD, "c", Party.SHARD), 1_000L,
                    new Flow("a", Party.ROUTER, "b", Party.CONFIG), 20L,
                    new Flow("c", Party.SHARD, "c", Party.SHARD), 9_999L)),
            10);
    assertThat(crossed).isEqualTo(new Crossed(40, 5, 7, 102));
    assertThat(crossed.ofOperations()).isEqualTo(52);
  }

  @Test
  void officialClientsVaryWindowAndRoutedClientsZones() {
    List<PointCell> cells =
        PointsPlan.of(Map.of(), 1, 15)
            .zones(List.of(Mode.ASYNC, Mode.DIRECT_ASYNC), List.of("a"), 300, null)
            .all();
    assertThat(cells).hasSize(8).extracting(PointCell::folder).doesNotHaveDuplicates();
    List<ZoneTraffic> traffic = cells.stream().map(cell -> (ZoneTraffic) cell.load()).toList();
    assertThat(traffic.subList(0, 4))
        .extracting(ZoneTraffic::options)
        .containsExactly(
            "&readPreference=nearest",
            "&readPreference=nearest&localThresholdMS=0",
            "&readPreference=nearest",
            "&readPreference=nearest");
    assertThat(traffic).extracting(ZoneTraffic::preferred).filteredOn(each -> each).hasSize(2);
  }
}
