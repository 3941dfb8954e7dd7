package dev.onehop.wire.watch;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.AutoEncryptionSettings;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.event.CommandListener;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The settings of OneHop's own clients that come from the application's settings. */
class InternalSettingsTest {
  @Test
  void copiesOnlyConnectionSettings() {
    MongoClientSettings application =
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString("mongodb://me:secret@m0,m1/?tls=true"))
            .applicationName("orders")
            .serverApi(ServerApi.builder().version(ServerApiVersion.V1).build())
            .addCommandListener(new CommandListener() {})
            .timeout(7, TimeUnit.SECONDS)
            .autoEncryptionSettings(
                AutoEncryptionSettings.builder()
                    .keyVaultNamespace("keys.vault")
                    .kmsProviders(Map.of("local", Map.of("key", new byte[96])))
                    .build())
            .build();

    MongoClientSettings own = InternalSettings.of(application);

    assertThat(own.getClusterSettings().getHosts())
        .isEqualTo(application.getClusterSettings().getHosts());
    assertThat(own.getCredential()).isEqualTo(application.getCredential());
    assertThat(own.getSslSettings()).isEqualTo(application.getSslSettings());
    assertThat(own.getApplicationName()).isEqualTo("orders");
    assertThat(own.getServerApi()).isEqualTo(application.getServerApi());
    assertThat(own.getCommandListeners()).isEmpty();
    assertThat(own.getTimeout(TimeUnit.MILLISECONDS)).isNull();
    assertThat(own.getAutoEncryptionSettings()).isNull();
  }
}
