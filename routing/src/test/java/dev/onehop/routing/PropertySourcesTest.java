package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.wire.ServerAddressName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PropertySourcesTest {
  @Test
  void removesOneHopOptionsFromUri() {
    PropertySources.Parsed parsed =
        PropertySources.parse(
            "mongodb://u:p@a:1,b/db?retryWrites=true&onehop.refreshinterval=5s&appName=x");

    assertThat(parsed.uri()).isEqualTo("mongodb://u:p@a:1,b/db?retryWrites=true&appName=x");
    assertThat(parsed.options()).isEqualTo(Map.of(OneHopProperty.REFRESH_INTERVAL, "5s"));
    assertThat(PropertySources.parse("mongodb://a").uri()).isEqualTo("mongodb://a");
  }

  @Test
  void uriOverridesPropertiesAndSystemProperties() {
    Properties given = properties("onehop.refreshInterval", "2s");
    Properties system = properties("onehop.refreshInterval", "3s");
    Map<OneHopProperty, String> uri = Map.of(OneHopProperty.REFRESH_INTERVAL, "1s");

    assertThat(refresh(uri, given, system)).isEqualTo(Duration.ofSeconds(1));
    assertThat(refresh(Map.of(), given, system)).isEqualTo(Duration.ofSeconds(2));
    assertThat(refresh(Map.of(), new Properties(), system)).isEqualTo(Duration.ofSeconds(3));
    assertThat(refresh(Map.of(), new Properties(), new Properties()))
        .isEqualTo(Setting.REFRESH_INTERVAL.standard());
  }

  @ParameterizedTest
  @CsvSource({"500ms,PT0.5S", "10s,PT10S", "2m,PT2M", "PT1M3S,PT1M3S"})
  void parsesDurationFormats(String text, Duration expected) {
    assertThat(refresh(Map.of(), properties("onehop.refreshInterval", text), new Properties()))
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "onehop.refreshInterval, soon, 'a duration above zero such as 10s or 500ms'",
    "onehop.refreshInterval, 0s, 'a duration above zero such as 10s or 500ms'",
    "onehop.historyInterval, -PT1S, 'a duration such as 10s or 500ms, or 0s for never'",
    "onehop.measureRoundTrips, yes, true or false",
    "onehop.shardRouters, or1:27017, 'shards and their mongoses, such as"
        + " shard1=host:port|host:port,shard2=host:port'",
    "onehop.preferredZones, 'a=h1,b=h1', 'zones in order of preference, each with its hosts, such"
        + " as a=host|host,b=host:port; each zone and each host only once'",
    "onehop.hostMapping, a:1=b, 'server names and the names to use instead, such as"
        + " host:port=host:port,host=host'",
  })
  void rejectsInvalidValuesWithExpectedFormat(String name, String value, String expected) {
    OneHop.Builder builder = OneHop.builder("mongodb://a").properties(properties(name, value));

    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("%s=%s, set in the properties, must be %s".formatted(name, value, expected));
  }

  @Test
  void rejectsUnknownOneHopOptions() {
    assertThatThrownBy(() -> OneHop.builder("mongodb://a/?onehop.refresh=1s"))
        .hasMessageStartingWith(
            "unknown option onehop.refresh in the URI; the options are onehop.enabled,"
                + " onehop.refreshInterval, ");
    assertThatThrownBy(() -> OneHop.builder("mongodb://a").properties(properties("onehop.x", "1")))
        .hasMessageStartingWith("unknown option onehop.x in the properties; the options are ");
    Properties others = properties("spring.x", "1");
    assertThat(OneHop.builder("mongodb://a").properties(others)).isNotNull();
  }

  @Test
  void parsesSeveralShardRouters() {
    assertThat(
            new PropertySources(
                    Map.of(OneHopProperty.SHARD_ROUTERS, "s0=a:1|b:2, s1=c"), new Properties())
                .get(Setting.SHARD_ROUTERS))
        .isEqualTo(
            Map.of(
                "s0", List.of(name("a:1"), name("b:2")),
                "s1", List.of(name("c:27017"))));
  }

  @Test
  void mapsServersAndHosts() {
    UnaryOperator<ServerAddressName> mapping =
        Setting.mapping(Map.of("a:1", "x:9", "a", "y", "[::1]:5", "[::2]:6"));

    assertThat(mapping.apply(name("a:1"))).isEqualTo(name("x:9"));
    assertThat(mapping.apply(name("a:2"))).isEqualTo(name("y:2"));
    assertThat(mapping.apply(name("[::1]:5"))).isEqualTo(name("[::2]:6"));
    assertThat(mapping.apply(name("b:1"))).isEqualTo(name("b:1"));
  }

  private static Duration refresh(
      Map<OneHopProperty, String> uri, Properties given, Properties system) {
    PropertySources sources = new PropertySources(uri, system);
    sources.properties(given);
    return sources.get(Setting.REFRESH_INTERVAL);
  }

  private static Properties properties(String name, String value) {
    Properties properties = new Properties();
    properties.setProperty(name, value);
    return properties;
  }

  private static ServerAddressName name(String text) {
    return ServerAddressName.parse(text);
  }
}
