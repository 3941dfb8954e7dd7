package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import site.ycsb.Client;
import site.ycsb.measurements.Measurements;

class ClientWorkloadTest {
  private static final int RECORDS = 50;
  private static final int CLIENTS = 3;

  private static ClientWorkload client(int index) throws Exception {
    Properties properties = new Properties();
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, String.valueOf(RECORDS));
    properties.setProperty("insertorder", "ordered");
    properties.setProperty(ClientShare.INDEX, String.valueOf(index));
    properties.setProperty(ClientShare.OF, String.valueOf(CLIENTS));
    properties.setProperty(ClientShare.RUN, "run");
    Measurements.setProperties(properties);
    ClientWorkload workload = new ClientWorkload();
    workload.init(properties);
    return workload;
  }

  @Test
  void clientsShareLoadedKeysAndInsertDifferentKeys() throws Exception {
    Set<String> inserted = new HashSet<>();
    for (int index = 0; index < CLIENTS; index++) {
      ClientWorkload workload = client(index);
      assertThat(workload.buildKeyName(0)).isEqualTo(client(0).buildKeyName(0));
      assertThat(workload.buildKeyName(RECORDS - 1)).isEqualTo("user" + (RECORDS - 1));
      for (int i = 0; i < 100; i++) {
        assertThat(inserted.add(workload.buildKeyName(RECORDS + i))).isTrue();
      }
    }
    // No number is missing: these are the records that a single client would have inserted.
    for (int i = 0; i < CLIENTS * 100; i++) {
      assertThat(inserted).contains("user" + (RECORDS + i));
    }
  }
}
