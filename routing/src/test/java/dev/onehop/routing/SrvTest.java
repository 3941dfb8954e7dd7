package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.spi.dns.DnsClient;
import com.mongodb.spi.dns.DnsException;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A URI whose hosts are listed in DNS. */
class SrvTest {
  private static final String URI =
      "mongodb+srv://cluster.example.com/?tls=false&serverSelectionTimeoutMS=2000";
  private static final String RECORD = "_mongodb._tcp.cluster.example.com";

  private static List<String> lookUp(String name, String type) throws DnsException {
    if (!type.equals("SRV")) {
      return List.of();
    }
    throw new DnsException("the name server is on strike", null);
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "DIRECT"})
  void reportsFailedSrvLookup(RoutingMode mode) {
    DnsClient dns = SrvTest::lookUp;
    try (MongoClient client =
        OneHop.builder(URI)
            .routing(mode)
            .applyToClientSettings(settings -> settings.dnsClient(dns))
            .client(MongoClient.class)) {
      // Does not count: the first operation may wait until this process has loaded its classes.
      var unused = catchThrowable(() -> find(client));
      assertThatThrownBy(() -> find(client))
          .isInstanceOfSatisfying(
              MongoException.class,
              e ->
                  assertThat(e.getMessage())
                      .contains(RECORD, "the name server is on strike")
                      .doesNotContain("127.0.0.1"));
    }
  }

  private static Document find(MongoClient client) {
    return client.getDatabase("it").getCollection("c").find().first();
  }
}
