import dev.onehop.routing.OneHop;
import java.util.Map;

class Atlas {
  void privateLinks() {
    /* 1 */
  }

  OneHop names(String uri) {
    return OneHop.builder(uri)
        /* 2 */
        .build();
  }
}
