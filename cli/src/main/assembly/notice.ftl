OneHop, under the Apache License, Version 2.0 (LICENSE).

The folder lib contains the libraries below, each under its own licence. LICENSE is the text of the Apache License, 2.0.
The text of another licence is in the library's jar or at the address beside the licence.

<#list dependencyMap as entry>
<#assign library = entry.getKey()/>
<#if library.groupId != "dev.onehop">
${library.groupId}:${library.artifactId}:${library.version}
    ${library.name!library.artifactId}<#if library.url??>, ${library.url}</#if>
    Licence: <#list library.licenses as licence>${licence.name}<#if licence.url??>, ${licence.url}</#if><#if licence_has_next> or </#if></#list>
</#if>
</#list>
